import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// Inode numbers, mount after mount: no two items have one, and what SOURCE has no more keeps the one that it has got.
@Suite struct KeptNumbersTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  private func mount() throws -> KeptVolume { try KeptVolume(states.next(), source: source) }

  private func mounted<Result>(_ body: (KeptVolume) throws -> Result) throws -> Result {
    let volume = try mount()
    let result = try body(volume)
    try volume.unmount()
    #expect(try states.next().check().findings == [])
    return result
  }

  private func number(_ path: String, of volume: KeptVolume) -> UInt64 { volume.attributes(path)?.inode ?? 0 }

  private func sourceNumber(_ path: String) -> UInt64 {
    var status = stat()
    stat(source.full(path), &status)
    return UInt64(status.st_ino)
  }

  private func isMade(_ inode: UInt64) -> Bool { inode >> 62 == 1 }

  @Test(arguments: [false, true]) func aDirectoryThatIsTheVolumesOwnHasANumberOfItsOwn(isSet: Bool) throws {
    for directory in ["d", "e"] { mkdir(source.full(directory), 0o755) }
    source.write("d/f", bytes("theirs"), mode: 0o644)
    try mounted { volume in
      if isSet { #expect(volume.change("d") { $0.mode = 0o700 } == nil) }
      #expect(volume.write("mine", to: "d/new") == nil)
    }
    rename(source.full("d"), source.full("e/d2"))
    var numbers: Set<UInt64> = []
    for _ in 0..<3 {
      try mounted { volume in
        #expect(volume.names("") == ["d", "e"] && volume.names("d") == ["new"] && volume.names("e") == ["d2"])
        #expect(number("e/d2", of: volume) == sourceNumber("e/d2"))
        if isSet { #expect(volume.attributes("d").map { $0.mode & 0o777 } == 0o700) }
        #expect(volume.conflicts == ["d": "gone_in_source"] && volume.read("d/new") == "mine")
        numbers.insert(number("d", of: volume))
      }
    }
    #expect(numbers.count == 1 && numbers.allSatisfy(isMade), "\(numbers)")
  }

  @Test func aFileThatIsTheVolumesOwnHasANumberOfItsOwn() throws {
    source.write("f", bytes("theirs"), mode: 0o644)
    try mounted { volume in #expect(volume.write("MINE", to: "f") == nil) }
    rename(source.full("f"), source.full("g"))
    var numbers: Set<UInt64> = []
    for _ in 0..<3 {
      try mounted { volume in
        #expect(volume.names("") == ["f", "g"] && volume.conflicts == ["f": "gone_in_source"])
        #expect(volume.read("f") == "MINErs" && volume.read("g") == "theirs")
        #expect(number("g", of: volume) == sourceNumber("g"))
        numbers.insert(number("f", of: volume))
      }
    }
    #expect(numbers.count == 1 && numbers.allSatisfy(isMade), "\(numbers)")
  }

  /// What somebody was told of while mounted keeps its number.
  @Test func aFileThatSourceRemovesWhileMountedKeepsItsNumber() throws {
    source.write("f", bytes("theirs"), mode: 0o644)
    let volume = try mount()
    #expect(volume.write("MINE", to: "f") == nil)
    let before = number("f", of: volume)
    unlink(source.full("f"))
    volume.refresh()
    #expect(number("f", of: volume) == before && volume.conflicts == ["f": "gone_in_source"])
    try volume.unmount()
  }

  /// SOURCE puts another directory in its place, and nothing after that.
  @Test func aDirectoryIsCalledByTheNumberOfTheOneThatItIsOneWith() throws {
    mkdir(source.full("d"), 0o755)
    source.write("d/x", bytes("1"), mode: 0o644)
    try mounted { volume in
      #expect(volume.write("M", to: "d/x") == nil && volume.write("mine", to: "d/new") == nil)
    }
    let first = sourceNumber("d")
    mkdir(source.full("d2"), 0o755)
    Scratch.removeTree(source.full("d"))
    rename(source.full("d2"), source.full("d"))
    let second = sourceNumber("d")
    #expect(first != second)
    try mounted { volume in #expect(volume.names("d").contains("new") && number("d", of: volume) == second) }
    rmdir(source.full("d"))
    source.write("d", bytes("a file"), mode: 0o644)
    var numbers: Set<UInt64> = []
    for _ in 0..<3 {
      try mounted { volume in
        #expect(volume.read("d/new") == "mine" && volume.read("d/x") == "M")
        numbers.insert(number("d", of: volume))
      }
    }
    #expect(numbers.count == 1 && numbers.isDisjoint(with: [first, second]), "\(numbers)")
  }

  /// In the catalog: with another version of a directory comes its number, however that is told.
  @Test(arguments: [false, true]) func aVersionComesWithItsNumber(isBound: Bool) throws {
    let fixture = StateFixture()
    try fixture.run { volume in
      let former = stored("d", node: 9, inode: 50, kind: .directory)
      let now = stored("d", node: 9, inode: 60, kind: .directory)
      try fixture.keep(.attributes(of: former, attributes(inode: 50, kind: .directory)), in: volume)
      if isBound {
        try fixture.keep(.bound(now, formerKey: bytes("d")), in: volume)
      } else {
        try fixture.keep(.attributes(of: now, attributes(inode: 60, kind: .directory)), in: volume)
      }
    }
    try fixture.run { volume in
      let item = try volume.saved(of: root).listed.first?.item
      #expect(item?.inode == 60 && item?.version?.inode == 60)
      #expect(item?.attributes?.inode == 60 && item?.attributes?.birth == 60)
    }
  }
}
