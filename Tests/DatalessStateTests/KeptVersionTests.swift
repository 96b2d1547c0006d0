import DatalessCore
@testable import DatalessState
import Glibc
import Testing

/// What was fetched, of which nothing is kept but the version, and SOURCE's next one with the same size and mtime, as
/// `cp -p` over a file leaves it where builds have fixed times.
@Suite struct KeptVersionTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  init() {
    mkdir(source.full("d"), 0o755)
    install("f", "1", count: 9)
    install("large", "1", count: 300_000)
    install("d/linked", "1", count: 9)
    link(source.full("d/linked"), source.full("link"))
  }

  /// Writes over a file, and puts its times back.
  private func install(_ name: String, _ mark: Character, count: Int) {
    source.write(name, Array(String(repeating: mark, count: count).utf8), mode: 0o644)
    let times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
    utimensat(AT_FDCWD, source.full(name), times, 0)
  }

  private func remounted(_ volume: KeptVolume, _ body: () -> Void) throws -> KeptVolume {
    try volume.unmount()
    body()
    return try KeptVolume(states.next(), source: source)
  }

  private func expect(_ volume: KeptVolume, _ mark: Character) {
    for (name, count) in [("f", 9), ("large", 300_000), ("d/linked", 9), ("link", 9)] {
      #expect(volume.read(name) == String(repeating: mark, count: count), "\(name)")
    }
  }

  @Test(arguments: [false, true]) func whatWasRewrittenBetweenTwoMountsIsFetchedAgain(isMoved: Bool) throws {
    var volume = try KeptVolume(states.next(), source: source)
    expect(volume, "1")
    if isMoved { #expect(volume.rename("f", to: "d/f") == nil) }
    volume = try remounted(volume) {
      install("f", "2", count: 9)
      install("large", "2", count: 300_000)
      install("d/linked", "2", count: 9)
    }
    if isMoved { #expect(volume.rename("d/f", to: "f") == nil) }
    expect(volume, "2")
    #expect(volume.conflicts.isEmpty)
    volume.refresh()
    volume = try remounted(volume) {}
    expect(volume, "2")
    #expect(try states.next().check(isDryRun: true).findings == [])
  }

  /// Nobody has touched it.
  @Test func whatIsTheSameIsNotFetchedAgain() throws {
    var volume = try KeptVolume(states.next(), source: source)
    expect(volume, "1")
    volume = try remounted(volume) {}
    expect(volume, "1")
    #expect(volume.fetched.files == 0)
    try volume.unmount()
  }

  /// There is one version of which both sides know nothing more: what was made of another is in conflict.
  @Test func whatIsWrittenToItIsWrittenToSourcesVersion() throws {
    var volume = try KeptVolume(states.next(), source: source)
    expect(volume, "1")
    volume = try remounted(volume) { install("f", "2", count: 9) }
    #expect(volume.write("mine", to: "f") == nil)
    volume = try remounted(volume) {}
    #expect(volume.read("f") == "mine22222")
    #expect(volume.conflicts.isEmpty)
    try volume.unmount()
  }

  /// A device that was removed here is no other one after the next mount.
  @Test(.enabled(if: geteuid() == 0, "needs root")) func aRemovedDeviceStaysRemoved() throws {
    guard mknod(source.full("null"), S_IFCHR | 0o600, dev_t(0x103)) == 0 else { return }
    var volume = try KeptVolume(states.next(), source: source)
    #expect(volume.unlink("null") == nil)
    for _ in 0..<3 {
      volume = try remounted(volume) {}
      #expect(!volume.names("").contains("null"))
      #expect(volume.conflicts.isEmpty, "\(volume.conflicts)")
    }
    try volume.unmount()
  }

  /// A link that was made here keeps the older version's content, as when the volume is mounted meanwhile.
  @Test(arguments: [[], ["f"], ["d/link"]], [false, true])
  func aLinkKeepsTheVersionThatItWasMadeOf(reads: [String], isMounted: Bool) throws {
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.link("f", to: "d/link") == nil)
    let rewrite = { source.write("f", bytes("newer"), mode: 0o644) }
    if isMounted {
      rewrite()
      volume.refresh()
    } else {
      volume = try remounted(volume, rewrite)
    }
    for name in reads { _ = volume.read(name) }
    for round in 0..<3 {
      _ = volume.names("")
      #expect(volume.read("d/link") == "111111111", "round \(round)")
      #expect(volume.read("f") == "newer", "round \(round)")
      #expect(volume.attributes("f")?.linkCount == 1 && volume.attributes("d/link")?.linkCount == 1, "round \(round)")
      #expect(volume.conflicts.isEmpty, "round \(round): \(volume.conflicts)")
      try volume.unmount()
      let findings = try states.next().check().findings
      #expect(findings == [], "round \(round)")
      volume = try KeptVolume(states.next(), source: source)
    }
  }

  /// Nobody looks into the link's directory in the mount that finds the newer version. The file may have another name
  /// in SOURCE.
  @Test(arguments: [false, true], [["d", ""], ["", "e", "d"], ["d", "e", ""]])
  func aLinkThatIsMetALaterTimeKeepsItsVersion(isLinked: Bool, looks: [String]) throws {
    mkdir(source.full("e"), 0o755)
    if isLinked { link(source.full("f"), source.full("e/g")) }
    var volume = try KeptVolume(states.next(), source: source)
    _ = volume.tree()
    #expect(volume.link("f", to: "d/link") == nil)
    volume = try remounted(volume) { source.write("f", bytes("newer"), mode: 0o644) }
    _ = volume.names("")
    volume = try remounted(volume) {}
    for look in looks { _ = volume.names(look) }
    for round in 0..<2 {
      #expect(volume.read("d/link") == "111111111" && volume.read("f") == "newer", "round \(round)")
      if isLinked { #expect(volume.read("e/g") == "newer", "round \(round)") }
      #expect(volume.attributes("d/link")?.linkCount == 1 && volume.conflicts.isEmpty, "round \(round)")
      try volume.unmount()
      let findings = try states.next().check().findings
      #expect(findings == [], "round \(round)")
      volume = try KeptVolume(states.next(), source: source)
      _ = volume.tree()
    }
    let node = volume.node("d/link")
    #expect(volume.unlink("d/link") == nil)
    volume.forget(node)
    try volume.unmount()
    let findings = try states.next().check().findings
    #expect(findings == [])
  }
}
