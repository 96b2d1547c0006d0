import DatalessCore
@testable import DatalessState
import Glibc
import SystemPackage
import Testing

/// Times of files that programs have changed, whatever came between that and the next mount.
@Suite struct KeptTimesTests {
  private let source = Scratch("source")
  private let states = StateCopies()
  private static let old: Int64 = 1_000_000_000

  init() {
    for name in ["a", "b"] {
      source.write(name, [UInt8](repeating: 1, count: 200_000), mode: 0o644)
      var times = [timespec(tv_sec: Int(Self.old), tv_nsec: 0), timespec(tv_sec: Int(Self.old), tv_nsec: 0)]
      precondition(utimensat(AT_FDCWD, source.full(name), &times, 0) == 0)
    }
  }

  private func seconds(_ volume: KeptVolume, _ name: String) -> Int64 {
    volume.attributes(name)?.modificationTime.seconds ?? 0
  }

  @Test(arguments: [AllocationKind.punchHole, .zero(keepsSize: true), .allocate(keepsSize: false)])
  func holesAreChanges(kind: AllocationKind) throws {
    var volume = try KeptVolume(states.next(), source: source)
    #expect(seconds(volume, "a") == Self.old)
    #expect(volume.allocate(kind, 0..<4096, of: "a") == nil)
    let changed = seconds(volume, "a")
    #expect(changed > Self.old)
    try volume.unmount()
    for _ in 0..<2 {
      volume = try KeptVolume(states.next(), source: source)
      #expect(seconds(volume, "a") == changed && seconds(volume, "b") == Self.old)
      try volume.unmount()
    }
  }

  /// A time that a program has set is not moved by a crash.
  @Test func aTimeThatWasSetStays() throws {
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.write("mine", to: "a") == nil)
    #expect(volume.change("a") { $0.modificationTime = .at(Timestamp(seconds: 5, nanoseconds: 0)) } == nil)
    volume.passSecond()
    let killed = states.next()
    try volume.unmount()
    volume = try KeptVolume(killed, source: source)
    #expect(seconds(volume, "a") == 5)
    try volume.unmount()
  }
}
