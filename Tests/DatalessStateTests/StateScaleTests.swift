import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import SystemPackage
import Testing

/// How long a volume with many items takes to its first answer. `DATALESS_STATE_ITEMS=1000000` measures; without it a
/// few items show that it works.
@Suite struct StateScaleTests {
  private static let count = getenv("DATALESS_STATE_ITEMS").flatMap { Int(String(cString: $0)) } ?? 3000
  private static let inDirectory = 1000

  private static var residentBytes: Int {
    let text = Scratch.readAll("/proc/self/statm")
    let pages = String(decoding: text, as: UTF8.self).split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return (pages ?? 0) * 4096
  }

  @Test func theFirstAnswerReadsADirectoryAndNotTheCatalog() throws {
    let fixture = StateFixture()
    let clock = ContinuousClock()
    func name(_ number: Int) -> String { "directory \(number)" }
    do {
      let volume = try fixture.open()
      var number: UInt64 = 0
      let took = try clock.measure {
        for index in 0..<Self.count {
          let directory = index / Self.inDirectory
          let file = stored(
            "\(name(directory))/file \(index)", node: UInt64(10 + index), inode: UInt64(1_000_000 + index))
          number += 1
          volume.journal.append(
            .content(of: file, ContentID(rawValue: 1 << 63 | UInt64(index))), ChangeNumber(rawValue: number))
          if index % 8192 == 0 { try volume.journal.commit() }
        }
        try volume.journal.commit()
      }
      print("scale: \(Self.count) items told in \(took)")
      try volume.close()
    }
    let before = Self.residentBytes
    var volume: StateVolume?
    let opening = try clock.measure { volume = try fixture.open() }
    var found = 0
    let answer = try clock.measure { found = try volume?.saved(of: root).listed.count ?? 0 }
    #expect(found == (Self.count + Self.inDirectory - 1) / Self.inDirectory)
    // None of the content is there, which is found out for what is looked into, and for nothing else.
    let directory = stored(name(0), node: 5, inode: 0, kind: .directory)
    var listed: [SavedDirectory.Name] = []
    let looking = try clock.measure { listed = try volume?.saved(of: directory).listed ?? [] }
    #expect(listed.count == min(Self.count, Self.inDirectory) && listed.allSatisfy { $0.item.content == nil })
    print(
      "scale: \(Self.count) items opened in \(opening), root in \(answer), \(listed.count) in a directory in \(looking),"
        + " \((Self.residentBytes - before) >> 10) KiB more")
    try volume?.close()
  }
}

extension Scratch {
  static func readAll(_ path: String) -> [UInt8] {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(file, &buffer, buffer.count)
    return Array(buffer.prefix(max(count, 0)))
  }
}
