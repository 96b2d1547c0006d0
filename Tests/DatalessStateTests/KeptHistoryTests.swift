import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// What programs have written stays, whatever else happens on the volume, in SOURCE and between mounts.
@Suite struct KeptHistoryTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    for directory in ["p", "p/q", "r", "r/s"] {
      mkdir(source.full(directory), 0o755)
      for file in ["a", "b"] { source.write("\(directory)/\(file)", bytes("theirs \(directory) \(file)"), mode: 0o644) }
    }
    link(source.full("p/a"), source.full("r/hl"))
    link(source.full("p/q/b"), source.full("p/hl"))
  }

  /// Paths of files and of directories, the root left out.
  private func paths(_ volume: KeptVolume, _ path: String = "") -> (files: [String], directories: [String]) {
    var (files, directories): ([String], [String]) = ([], [])
    for name in volume.names(path) {
      let full = path.isEmpty ? name : "\(path)/\(name)"
      guard name != "ESTALE" else { continue }
      switch volume.attributes(full)?.kind {
      case .directory:
        let below = paths(volume, full)
        directories += [full] + below.directories
        files += below.files
      default: files.append(full)
      }
    }
    return (files, directories)
  }

  private func paths(inSource path: String = "") -> (files: [String], directories: [String]) {
    var (files, directories): ([String], [String]) = ([], [])
    for name in source.names(path).sorted() {
      let full = path.isEmpty ? name : "\(path)/\(name)"
      if source.isDirectory(full) {
        let below = paths(inSource: full)
        directories += [full] + below.directories
        files += below.files
      } else {
        files.append(full)
      }
    }
    return (files, directories)
  }

  /// A name that its side does not have; sometimes one that both sides give.
  private static func free(
    in directory: String, _ own: String, _ random: inout TestRandom, isTaken: (String) -> Bool
  ) -> String {
    let prefix = directory.isEmpty ? "" : directory + "/"
    guard random.oneIn(4) else { return prefix + own }
    let shared = prefix + random.element(of: ["x", "y"])
    return isTaken(shared) ? prefix + own : shared
  }

  /// - Parameter written: Texts that programs have written, and nobody has removed or written over.
  private func step(
    _ volume: KeptVolume, _ written: inout Set<String>, _ random: inout TestRandom, _ number: Int
  ) -> String {
    let (files, directories) = paths(volume)
    let directory = random.element(of: directories + [""])
    let taken = files + directories
    let free = Self.free(in: directory, "n\(number)", &random) { taken.contains($0) }
    guard let file = files.randomElement(using: &random) else { return "nothing" }
    switch random.below(9) {
    case 0, 1, 2:
      let (former, text) = (volume.read(file), "written \(number)".padding(20))
      if volume.write(text, to: file) == nil { written = written.subtracting([former]).union([text]) }
      return "write \(file)"
    case 3:
      let text = "made \(number)".padding(20)
      if volume.write(text, to: free) == nil { written.insert(text) }
      return "make \(free)"
    case 4: return volume.rename(file, to: free) == nil ? "rename \(file) \(free)" : "nothing"
    case 5:
      guard let from = directories.randomElement(using: &random) else { return "nothing" }
      return volume.rename(from, to: free) == nil ? "rename \(from) \(free)" : "nothing"
    case 6:
      let former = volume.read(file)
      if volume.unlink(file) == nil { written.remove(former) }
      return "unlink \(file)"
    case 7:
      guard random.oneIn(3), let top = directories.randomElement(using: &random) else { return "nothing" }
      let below = files.filter { $0.hasPrefix(top + "/") }.map { volume.read($0) }
      if volume.remove(top) == nil { written.subtract(below) }
      return "remove \(top)"
    default: return volume.makeDirectory(free) == nil ? "mkdir \(free)" : "nothing"
    }
  }

  private func stepInSource(_ random: inout TestRandom, _ number: Int) -> String {
    let (files, directories) = paths(inSource: "")
    let directory = random.element(of: directories + [""])
    let taken = files + directories
    let free = Self.free(in: directory, "s\(number)", &random) { taken.contains($0) }
    let target = random.oneIn(2) ? free : random.element(of: files + [free])
    guard let file = files.randomElement(using: &random) else { return "nothing" }
    switch random.below(8) {
    case 7:
      link(source.full(file), source.full(free))
      return "SOURCE link \(file) \(free)"
    case 0:
      source.write(file, bytes("theirs \(number)"), mode: 0o644)
      return "SOURCE write \(file)"
    case 1:
      rename(source.full(file), source.full(target))
      return "SOURCE rename \(file) \(target)"
    case 2:
      guard let from = directories.randomElement(using: &random) else { return "nothing" }
      rename(source.full(from), source.full(free))
      return "SOURCE rename \(from) \(free)"
    case 3:
      unlink(source.full(file))
      return "SOURCE unlink \(file)"
    case 4:
      guard let top = directories.randomElement(using: &random) else { return "nothing" }
      source.removeAll(top)
      return "SOURCE remove all \(top)"
    case 5:
      guard let top = directories.randomElement(using: &random) else { return "nothing" }
      source.removeAll(top)
      let isFile = random.oneIn(2)
      if isFile {
        source.write(top, bytes("theirs \(number)"), mode: 0o644)
      } else {
        mkdir(source.full(top), 0o755)
        source.write("\(top)/a", bytes("theirs \(number)"), mode: 0o644)
      }
      return "SOURCE replace \(top) by \(isFile ? "file" : "directory")"
    default:
      // Empty ones go, others stay.
      guard let top = directories.randomElement(using: &random) else { return "nothing" }
      for name in source.names(top) { unlink(source.full("\(top)/\(name)")) }
      rmdir(source.full(top))
      return "SOURCE remove \(top)"
    }
  }

  private static let found: [UInt64] = [
    97_617, 97_808, 98_955, 99_104, 110_423, 110_649, 120_060, 200_560, 201_415, 202_421, 300_602, 300_809, 500_656,
    503_930, 505_458, 506_300, 510_896, 511_379, 511_650, 520_762, 521_707,
    530_363, 531_033, 532_104, 541_248, 541_348, 550_513, 562_443, 564_887, 565_516, 566_051,
    560_430, 569_248, 570_651, 574_636, 592_053, 592_396, 592_502, 611_384, 631_325, 632_341,
  ]

  @Test(arguments: TestSeed.first(110, and: found)) func nothingThatWasWrittenIsLost(seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    var written: Set<String> = []
    var story = ["seed \(seed)"]
    for round in 0..<6 {
      let volume = try KeptVolume(states.next(), source: source)
      // As the daemon does it in the background.
      try volume.state.reconcile()
      // Not always everything: what is not listed is met later, by another of its names.
      if random.oneIn(2) { for name in volume.names("") where random.oneIn(2) { _ = volume.names(name) } }
      if random.oneIn(3) {
        for number in 0...random.below(2) { story.append(stepInSource(&random, round * 10 + 5 + number)) }
        volume.refresh()
        story.append("refresh of what was looked at")
      }
      let (files, directories) = paths(volume)
      var texts: Set<String> = []
      for file in files {
        let text = volume.read(file)
        // What nobody has changed, and the store has no more, goes when somebody looks.
        #expect(text.contains(" ") || text == "ESTALE", "\(file): \(text): \(story)")
        texts.insert(text)
      }
      for directory in directories { #expect(!volume.names(directory).contains("EIO"), "\(directory): \(story)") }
      for text in written.sorted() { #expect(texts.contains(text), "\(text): \(story): \(files), \(volume.conflicts)") }
      for number in 0..<random.below(6) { story.append(step(volume, &written, &random, round * 10 + number)) }
      if random.oneIn(4) {
        story.append(stepInSource(&random, round * 10))
        volume.refresh()
        story.append("refresh")
      }
      let isKilled = random.oneIn(4)
      if isKilled { volume.passSecond() } else { try volume.unmount() }
      story.append("remount")
      for number in 0..<random.below(3) { story.append(stepInSource(&random, round * 10 + 1 + number)) }
      let report = try states.next().check()
      #expect(report.damages == 0, "\(story): \(report.findings)")
      // What the kernel still knows of other versions the next run removes, as after a kill.
      let leaves = isKilled || volume.leavesContent
      #expect(leaves || report.findings == [], "\(report.findings) \(story)")
    }
  }
}

extension Scratch {
  fileprivate func names(_ path: String) -> [String] {
    guard let stream = opendir(full(path)) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  fileprivate func removeAll(_ path: String) {
    for name in names(path) {
      let below = "\(path)/\(name)"
      if isDirectory(below) { removeAll(below) } else { unlink(full(below)) }
    }
    rmdir(full(path))
  }

  fileprivate func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return lstat(full(path), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}

extension String {
  fileprivate func padding(_ count: Int) -> String { self + String(repeating: ".", count: max(0, count - utf8.count)) }
}
