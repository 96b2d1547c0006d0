import CDatalessLinux
import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// ACLs that SOURCE had for what it has no more: with the mode alone, in which the mask stands for the group, others
/// got what they were not given.
@Suite(.enabled(if: hasACLs, "the file system of the scratch directories has no ACLs")) struct KeptACLTests {
  private static let access = "system.posix_acl_access"
  private static let inherited = "system.posix_acl_default"
  private let source = Scratch("source")
  private let elsewhere = Scratch("elsewhere")
  private let states = StateCopies()

  /// User 1234 has nothing, the group nothing, the mask allows all.
  fileprivate static func acl(owner: UInt8 = 6, mask: UInt8 = 6, user: UInt8 = 0) -> [UInt8] {
    let none: [UInt8] = [255, 255, 255, 255]
    return [2, 0, 0, 0, 1, 0, owner, 0] + none + [2, 0, user, 0, 0xd2, 4, 0, 0] + [4, 0, 0, 0] + none
      + [16, 0, mask, 0] + none + [32, 0, 0, 0] + none
  }

  /// - Parameter value: nil: what a mode of 0640 says, which is none.
  fileprivate static func set(_ value: [UInt8]?, _ name: String = access, on path: String) -> Bool {
    let none: [UInt8] = [255, 255, 255, 255]
    let value = value ?? [2, 0, 0, 0, 1, 0, 6, 0] + none + [4, 0, 4, 0] + none + [32, 0, 0, 0] + none
    return clinux_setxattr(path, name, value, value.count, 0) == 0
  }

  init() {
    mkdir(source.full("d"), 0o755)
    source.write("d/f", bytes("theirs"), mode: 0o644)
    source.write("d/plain", bytes("theirs"), mode: 0o640)
    #expect(Self.set(Self.acl(), on: source.full("d/f")))
  }

  private func mount() throws -> KeptVolume { try KeptVolume(states.next(), source: source) }

  private func text(_ acl: [UInt8]) -> String { String(decoding: acl, as: UTF8.self) }

  private func end(_ volume: KeptVolume) throws {
    try volume.unmount()
    #expect(try states.next().check().damages == 0)
  }

  @Test(arguments: [nil, "d/moved"], SourceMoment.allCases)
  func whatWasWrittenKeepsThem(name: String?, moment: SourceMoment) throws {
    var volume = try mount()
    for file in ["d/f", "d/plain"] { #expect(volume.write("MINE", to: file) == nil) }
    let name = name ?? "d/f"
    if name != "d/f" { #expect(volume.rename("d/f", to: name) == nil) }
    volume = try moment.pass(volume, states, source: source) {
      for file in ["d/f", "d/plain"] { unlink(source.full(file)) }
    }
    for _ in 0..<3 {
      #expect(volume.names("d").count == 2 && volume.conflicts.count == 2)
      #expect(volume.attribute(Self.access, of: name) == text(Self.acl()))
      #expect(volume.attribute(Self.access, of: "d/plain") == "ENODATA")
      #expect(volume.attributes(name)?.mode == 0o100660 && volume.attributes("d/plain")?.mode == 0o100640)
      try end(volume)
      volume = try mount()
    }
    // As anybody's.
    #expect(volume.change(name) { $0.mode = 0o600 } == nil)
    #expect(volume.attribute(Self.access, of: name) == text(Self.acl(mask: 0)))
    volume.setAttribute(Self.access, to: nil, of: name)
    #expect(volume.attribute(Self.access, of: name) == "ENODATA")
    try end(volume)
    volume = try mount()
    #expect(volume.attribute(Self.access, of: name) == "ENODATA")
    try end(volume)
  }

  /// Nobody has looked there since.
  @Test func theyCountBeforeTheLossIsKnown() throws {
    let volume = try mount()
    #expect(volume.write("MINE", to: "d/f") == nil)
    unlink(source.full("d/f"))
    #expect(volume.attribute(Self.access, of: "d/f") == text(Self.acl()))
    try end(volume)
  }

  /// SOURCE has others by then.
  @Test(arguments: SourceMoment.allCases, [Self.acl(mask: 4, user: 4), nil])
  func thoseThatSourceHadLastCount(moment: SourceMoment, newer: [UInt8]?) throws {
    var volume = try mount()
    #expect(volume.write("MINE", to: "d/f") == nil)
    volume = try moment.pass(volume, states, source: source) {
      #expect(Self.set(newer, on: source.full("d/f")))
    }
    _ = volume.tree()
    volume.run()
    unlink(source.full("d/f"))
    volume.refresh()
    for _ in 0..<2 {
      #expect(volume.read("d/f").hasPrefix("MINE"))
      #expect(volume.attribute(Self.access, of: "d/f") == newer.map(text) ?? "ENODATA")
      try end(volume)
      volume = try mount()
    }
    try end(volume)
  }

  @Test(arguments: [ConflictChoice.keepMine, .keepBoth]) func aConflictKeepsThem(choice: ConflictChoice) throws {
    var volume = try mount()
    #expect(volume.write("MINE", to: "d/f") == nil)
    source.write("d/f", bytes("theirs, newer"), mode: 0o600)
    volume.refresh()
    let copy = volume.resolve("d/f", choice).copy ?? "d/f"
    for _ in 0..<2 {
      #expect(volume.read(copy).hasPrefix("MINE"))
      #expect(
        volume.attribute(Self.access, of: copy) == text(Self.acl(mask: UInt8(volume.attributes(copy)!.mode >> 3 & 7))))
      try end(volume)
      volume = try mount()
    }
    try end(volume)
  }

  @Test(arguments: [false, true]) func aDirectoryKeepsThem(isRemounted: Bool) throws {
    #expect(Self.set(Self.acl(owner: 7, mask: 7), on: source.full("d")))
    #expect(Self.set(Self.acl(owner: 7, mask: 5, user: 1), Self.inherited, on: source.full("d")))
    var volume = try mount()
    #expect(volume.write("MINE", to: "d/made") == nil)
    if isRemounted {
      try end(volume)
      volume = try mount()
      _ = volume.tree()
    }
    rename(source.full("d"), elsewhere.full("d"))
    volume.refresh()
    for _ in 0..<3 {
      #expect(volume.names("d").contains("made") && volume.conflicts["d"] == "gone_in_source")
      #expect(volume.attribute(Self.access, of: "d") == text(Self.acl(owner: 7, mask: 7)))
      try end(volume)
      volume = try mount()
    }
    try end(volume)
  }
}

private let hasACLs: Bool = {
  let scratch = Scratch("acl")
  scratch.write("f", [], mode: 0o600)
  return KeptACLTests.set(KeptACLTests.acl(), on: scratch.full("f"))
}()
