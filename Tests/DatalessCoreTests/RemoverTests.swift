@testable import DatalessCore
import SystemPackage
import Testing

/// Who may remove what: as the kernel has it for rm.
@Suite struct RemoverTests {
  /// A tree `t/d/f` whose directories and file have these modes and owners.
  private func refusal(
    of path: String = "t", parent: UInt32 = 0o777, t: UInt32 = 0o755, d: UInt32 = 0o755,
    owners: (t: UInt32, d: UInt32, f: UInt32) = (1000, 1000, 1000), isListed: Bool = true, by remover: Remover
  ) -> String? {
    let fixture = EngineFixture.writable(["p/t/d/f": 3])
    let places: [(String, UInt32, UInt32)] = [
      ("p", 0o040000 | parent, 0), ("p/t", 0o040000 | t, owners.t), ("p/t/d", 0o040000 | d, owners.d),
      ("p/t/d/f", 0o100444, owners.f),
    ]
    for (path, mode, uid) in places {
      fixture.store.edit(path) { item in
        item.attributes.mode = mode
        item.attributes.uid = uid
        item.attributes.gid = 50
      }
    }
    if isListed { fixture.list("p/t/d") } else { fixture.list("p") }
    switch fixture.remove("p/" + path, by: remover) {
    case .removed: return nil
    case .refused(let path, let errno): return "\(path) \(errno)"
    case .unanswered: return "no answer"
    }
  }

  private let owner = EngineFixture.remover(1000, 1000)
  private let other = EngineFixture.remover(2000, 2000)
  private let member = EngineFixture.remover(2000, 2000, groups: [7, 50])

  @Test func theOwnerMay() {
    #expect(refusal(by: owner) == nil)
    #expect(refusal(by: EngineFixture.root) == nil)
    #expect(refusal(t: 0, d: 0, by: EngineFixture.root) == nil)
  }

  @Test func theDirectoryThatItIsInHasToBeWritable() {
    #expect(refusal(parent: 0o755, by: owner) == "p/t EACCES")
    #expect(refusal(parent: 0o776, by: owner) == "p EACCES", "not to be searched")
    #expect(refusal(parent: 0o1777, by: owner) == nil)
    #expect(refusal(parent: 0o1777, by: other) == "p/t EPERM", "sticky, and not his")
    #expect(refusal(parent: 0o1777, by: EngineFixture.root) == nil)
  }

  /// Whoever takes the right to search from a directory above keeps what is below.
  @Test func eachDirectoryAboveHasToBeSearchable() {
    #expect(refusal(of: "t/d/f", by: owner) == nil)
    #expect(refusal(of: "t/d/f", t: 0o600, by: owner) == "p/t EACCES")
    #expect(refusal(of: "t/d/f", parent: 0o770, by: owner) == "p EACCES")
    #expect(refusal(of: "t/d", t: 0o700, owners: (1000, 2000, 2000), by: other) == "p/t EACCES")
    #expect(refusal(of: "t/d/f", parent: 0, t: 0, by: EngineFixture.root) == nil)
  }

  @Test func eachDirectoryWithSomethingInItHasToBe() {
    #expect(refusal(by: other) == "p/t/d EACCES")
    #expect(refusal(t: 0o777, by: other) == "p/t/d/f EACCES")
    #expect(refusal(t: 0o777, d: 0o777, by: other) == nil)
    #expect(refusal(d: 0o555, by: owner) == "p/t/d/f EACCES")
    #expect(refusal(d: 0o333, by: owner) == "p/t/d EACCES", "not to be listed")
    #expect(refusal(t: 0o777, d: 0o1777, by: other) == "p/t/d/f EPERM")
    #expect(refusal(t: 0o777, d: 0o1777, owners: (1000, 1000, 2000), by: other) == nil, "his file")
    #expect(refusal(t: 0o777, d: 0o1777, owners: (1000, 2000, 1000), by: other) == nil, "his directory")
  }

  @Test func groupsCount() {
    #expect(refusal(t: 0o775, d: 0o775, by: other) == "p/t/d EACCES")
    #expect(refusal(t: 0o775, d: 0o775, by: member) == nil)
    #expect(refusal(t: 0o707, d: 0o707, by: member) == "p/t EACCES", "the group has less than others")
  }

  @Test func whatWasNeverListedHasToBeTheCallersToChange() {
    #expect(refusal(isListed: false, by: owner) == nil)
    #expect(refusal(isListed: false, by: other) == "p/t EACCES")
    #expect(refusal(t: 0o777, isListed: false, by: other) == nil)
    #expect(refusal(t: 0o1777, isListed: false, by: other) == "p/t EPERM")
    #expect(refusal(t: 0o500, isListed: false, by: owner) == "p/t EACCES")
  }

  @Test func anEmptyDirectoryNeedsNoRights() {
    let fixture = EngineFixture.writable(["p/x": 1])
    fixture.store.edit("p") { $0.attributes.mode = 0o040777 }
    let d = fixture.makeDirectory("d", in: fixture.node("p"), mode: 0).node
    #expect(d != nil)
    #expect(fixture.remove("p/d", by: EngineFixture.remover(2000, 2000)).found?.items == 1)
  }

  @Test func aclsThatWereSetHereCount() {
    func acl(_ entries: [(tag: UInt16, permissions: UInt16, id: UInt32)]) -> [UInt8] {
      func bytes(_ number: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) }
      }
      return bytes(2, 4)
        + entries.flatMap { bytes(UInt32($0.tag), 2) + bytes(UInt32($0.permissions), 2) + bytes($0.id, 4) }
    }
    let none = UInt32.max
    func check(_ remover: Remover, user: UInt16, group: UInt16, mask: UInt16) -> String? {
      let known = PosixACL(
        acl([(1, 7, none), (2, user, 2000), (4, group, none), (16, mask, none), (32, 0, none)]))
      return known.map {
        $0.gives(3, ofGroup: 50, to: remover.caller.uid) { $0 == remover.caller.gid || remover.groups.contains($0) }
          ? "yes" : "no"
      }
    }
    #expect(check(other, user: 7, group: 0, mask: 7) == "yes")
    #expect(check(other, user: 7, group: 0, mask: 5) == "no")
    #expect(check(member, user: 0, group: 7, mask: 7) == "no", "the user's own entry comes first")
    let third = EngineFixture.remover(3000, 50)
    #expect(check(third, user: 0, group: 7, mask: 7) == "yes")
    #expect(check(third, user: 0, group: 4, mask: 7) == "no")
    #expect(check(EngineFixture.remover(3000, 3000), user: 7, group: 7, mask: 7) == "no")
  }
}
