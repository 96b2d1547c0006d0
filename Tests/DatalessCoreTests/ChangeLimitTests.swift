@testable import DatalessCore
import SystemPackage
import TestSupport
import Testing

/// What changes take of memory, and of levels: there are limits, for all and for each owner.
@Suite struct ChangeLimitTests {
  /// A directory whose ACL is inherited, and an item that has no room for it: without it others had rights to it.
  @Test func whatHasNoRoomForItsACLIsNotMade() {
    let fixture = EngineFixture.writable(["d/x": 1])
    var value: [UInt8] = [2, 0, 0, 0]
    func add(_ tag: PosixACL.Entry.Tag, _ permissions: UInt8, _ id: UInt32) {
      value += [UInt8(tag.rawValue), 0, permissions, 0] + (0..<4).map { UInt8(truncatingIfNeeded: id >> ($0 * 8)) }
    }
    add(.userObject, 7, .max)
    for id in 0..<UInt32(8_187) { add(.user, 0, 5_000 + id) }
    add(.groupObject, 0, .max)
    add(.mask, 7, .max)
    add(.other, 7, .max)
    fixture.store.edit("d") { $0.xattrs = ["system.posix_acl_default": value] }
    let d = fixture.node("d")
    let before = fixture.attributes(d)
    #expect(fixture.makeDirectory("c", in: d) == .failed("ENOSPC"))
    #expect(fixture.entries(of: d).keys.sorted() == ["x"] && fixture.attributes(d) == before)
    #expect(fixture.engine.state.withLock { $0.extras.bytes } == 0)
    #expect(fixture.engine.changes == VolumeChanges())
    let file = fixture.makeFile("f", in: d)
    #expect(file.node.flatMap { fixture.attributeBytes("system.posix_acl_access", of: $0) }?.count == value.count)
  }

  private static func limited(volume: Int64, user: Int64) -> EngineFixture {
    EngineFixture.writable(["d/x": 1]) { configuration in
      configuration.changeLimits = EngineConfiguration.ChangeLimits(
        volume: volume, user: user, attributes: volume, userAttributes: user / 4)
    }
  }

  private func make(_ name: String, by uid: UInt32, _ fixture: EngineFixture) -> String? {
    var caller = EngineFixture.maker
    caller.uid = uid
    let answer = Array(name.utf8).withUnsafeBufferPointer {
      fixture.engine.makeNode($0, in: fixture.node("d"), mode: 0o100644, umask: 0, device: 0, by: caller)
    }
    if case .failed(let errno) = answer { return errno.name }
    if case .made(let item) = answer { fixture.forget(item.node) }
    return nil
  }

  @Test func oneUserLeavesRoomForTheOthers() {
    let fixture = Self.limited(volume: 21_000, user: 10_000)
    _ = fixture.node("d/x")
    func fill(_ uid: UInt32) -> (count: Int, errno: String?) {
      for count in 0..<100 { if let errno = make("\(uid)-\(count)", by: uid, fixture) { return (count, errno) } }
      return (100, nil)
    }
    let first = fill(1)
    #expect(first.count > 10 && first.errno == "EDQUOT")
    let second = fill(2)
    #expect(second == (first.count, "EDQUOT"))
    #expect(fill(3).errno == "ENOSPC" && make("0", by: 0, fixture) == "ENOSPC")
    // What is removed leaves its room, whoever removes it.
    let d = fixture.node("d")
    #expect(fixture.unlink("1-0", in: d) == .ok)
    fixture.lane.runAll()
    #expect(make("1-0", by: 1, fixture) == nil)
    #expect(make("1-x", by: 1, fixture) == "ENOSPC")
    // Another owner: with all that the item takes.
    var change = AttributeChange()
    change.uid = 7
    for name in fixture.entries(of: d).keys where name.hasPrefix("1-") {
      fixture.set(change, of: fixture.node("d/" + name))
    }
    fixture.engine.state.withLock { state in
      #expect(state.costs.bytes(of: 1) == 0 && state.costs.bytes(of: 7) > 9_000)
    }
    for name in fixture.entries(of: d).keys.sorted() {
      let node = fixture.node("d/" + name)
      #expect(fixture.unlink(name, in: d) == .ok)
      fixture.forget(node)
    }
    fixture.lane.runAll()
    #expect(fixture.engine.state.withLock { $0.costs.bytes + $0.attributeCosts.bytes } == 0)
  }

  @Test func targetsNamesAndAttributesCount() {
    let fixture = Self.limited(volume: 1 << 20, user: 8_000)
    let d = fixture.node("d")
    let file = fixture.makeFile("f", in: d).node!
    let target = String(repeating: "t", count: 4_000)
    #expect(fixture.makeLink("l", in: d, to: target).node != nil)
    #expect(fixture.makeLink("m", in: d, to: target) == .failed("EDQUOT"))
    #expect(fixture.entries(of: d)["m"] == nil)
    #expect(fixture.setAttribute("user.a", [UInt8](repeating: 1, count: 3_000), of: file) == "EDQUOT")
    #expect(fixture.attribute("user.a", of: file) == "absent")
    #expect(fixture.setAttribute("user.a", [UInt8](repeating: 1, count: 1_000), of: file) == nil)
    var names = 0
    while fixture.link(file, as: "name \(names)", in: d).node != nil { names += 1 }
    #expect(names > 2 && fixture.link(file, as: "one more", in: d) == .failed("EDQUOT"))
    // What takes no more is done.
    #expect(fixture.rename("name 0", in: d, to: "name a", into: d) == .ok)
    #expect(fixture.rename("name a", in: d, to: String(repeating: "n", count: 255), into: d) == .failed("EDQUOT"))
    #expect(fixture.rename("name a", in: d, to: "l", into: d, .exchange) == .ok)
    // Names that are gone are given back when somebody forgets an item, or closes a directory, for instance.
    #expect(fixture.unlink("name 1", in: d) == .ok)
    _ = fixture.engine.openDirectory(d)
    fixture.close(d, 0)
    #expect(fixture.link(file, as: "name b", in: d) == .made(file))
    #expect(fixture.removeAttribute("user.a", of: file) == nil)
    #expect(fixture.setAttribute("user.b", [UInt8](repeating: 1, count: 1_500), of: file) == nil)
  }

  /// Whoever has a directory open keeps names of it that are gone: they are paid for until then.
  @Test func namesThatAreGoneCountAsLongAsTheyAreKept() {
    let fixture = Self.limited(volume: 1 << 20, user: 8_000)
    let d = fixture.node("d")
    let file = fixture.makeFile("f", in: d).node!
    let before = fixture.engine.state.withLock { $0.costs.bytes }
    func linkAndUnlink(_ name: String) -> String? {
      let done = fixture.link(file, as: name, in: d)
      if done.node != nil { #expect(fixture.unlink(name, in: d) == .ok) }
      return done.errno
    }
    // As a program does with its lock file.
    for _ in 0..<500 { #expect(linkAndUnlink("lock") == nil) }
    _ = fixture.engine.openDirectory(d)
    for _ in 0..<500 { #expect(linkAndUnlink("lock") == nil) }
    let errnos = (0..<500).map { linkAndUnlink("name \($0)") }
    #expect(errnos.first == .some(nil) && errnos.last == "EDQUOT")
    fixture.close(d, 0)
    #expect(fixture.engine.state.withLock { $0.costs.bytes } == before)
    #expect(linkAndUnlink("name") == nil)
  }

  /// What the sum says is what the items take, whatever is done.
  @Test(arguments: TestSeed.seeds) func costsAreSumsOverItems(seed: UInt64) {
    var random = TestRandom(seed: seed)
    var costs = ChangeCosts(volumeMax: 10_000, userMax: 4_000)
    var model: [NodeIndex: (uid: UInt32, bytes: Int64)] = [:]
    for _ in 0..<3_000 {
      let node = NodeIndex(rawValue: UInt32(random.below(20)))
      let uid = UInt32(random.below(4))
      switch random.below(4) {
      case 0:
        costs.move(node, to: uid)
        model[node]?.uid = uid
      case 1:
        costs.forget([node])
        model[node] = nil
      default:
        let change = Int64(random.below(1_500)) - 700
        let owner = model[node]?.uid ?? uid
        let (all, own) = (
          model.values.reduce(0) { $0 + $1.bytes }, model.values.reduce(0) { $0 + ($1.uid == owner ? $1.bytes : 0) }
        )
        let expected: Errno? =
          change <= 0
          ? nil : all + change > 10_000 ? .noSpace : owner != 0 && own + change > 4_000 ? .diskQuotaExceeded : nil
        #expect(costs.refusal(of: change, for: owner) == expected, "seed \(seed)")
        guard expected == nil else { continue }
        costs.add(change, to: node, of: owner)
        let bytes = max(0, (model[node]?.bytes ?? 0) + change)
        model[node] = bytes > 0 ? (owner, bytes) : nil
      }
      #expect(costs.bytes == model.values.reduce(0) { $0 + $1.bytes }, "seed \(seed)")
    }
  }

  /// An ACL that cannot be read may say anything.
  @Test func nothingIsMadeWhereTheACLIsUnknown() {
    let fixture = EngineFixture.writable(["d/x": 1])
    fixture.list("")
    let d = fixture.node("d")
    fixture.list("d")
    fixture.engine.state.withLock { state in
      guard let directory = state.namespace.index(of: d) else { return }
      state.noteInheritable(.failure(FSError(.ioError, "the disk")), of: directory)
    }
    #expect(fixture.makeFile("f", in: d) == .failed("EIO"))
    #expect(fixture.makeDirectory("c", in: d) == .failed("EIO"))
    #expect(fixture.makeLink("l", in: d, to: "there").node != nil, "it has no rights")
    #expect(fixture.setAttribute("system.posix_acl_default", [2, 0, 0, 0], of: d) == "EINVAL")
    for kind in ["user.", "trusted.", "security."] { #expect(fixture.setAttribute(kind, [1], of: d) == "EINVAL") }
    #expect(fixture.setAttribute("other.", [1], of: d) == "EOPNOTSUPP")
    #expect(
      fixture.removeAttribute("system.posix_acl_default", of: d) == nil, "as on ext4, which has none to remove either")
  }

  // MARK: - Levels

  @Test func thereIsALastLevel() {
    let fixture = EngineFixture.writable(["g": 1])
    fixture.list("")
    func chain(_ name: String, _ count: Int) -> [NodeID] {
      var nodes: [NodeID] = []
      for _ in 0..<count {
        guard let node = fixture.makeDirectory(name, in: nodes.last ?? .root).node else { break }
        nodes.append(node)
      }
      return nodes
    }
    let levels = EngineState.levelsMax
    let long = chain("a", levels + 1)
    #expect(long.count == levels)
    #expect(fixture.makeDirectory("b", in: long[levels - 1]) == .failed("ENAMETOOLONG"))
    #expect(fixture.makeFile("f", in: long[levels - 1]).node != nil)
    let short = chain("b", 10)
    // Neither below it nor, with what lies in it, near its end.
    #expect(fixture.rename("b", to: "b", into: long[levels - 1]) == .failed("ENAMETOOLONG"))
    #expect(fixture.rename("b", to: "b", into: long[levels - 10]) == .failed("ENAMETOOLONG"))
    #expect(fixture.makeDirectory("x", in: long[levels - 10]).node != nil)
    #expect(fixture.rename("b", to: "x", into: long[levels - 10], .exchange) == .failed("ENAMETOOLONG"))
    #expect(fixture.rename("b", to: "b", into: long[levels - 11]) == .ok)
    #expect(fixture.makeDirectory("c", in: short[9]) == .failed("ENAMETOOLONG"))
    #expect(fixture.rename("b", in: long[levels - 11], to: "b") == .ok)
    #expect(fixture.makeDirectory("c", in: short[9]).node != nil)
    // What was deep and is empty is not deep any more.
    #expect(fixture.removeDirectory("c", in: short[9]) == .ok)
    for place in short.indices.dropFirst().reversed() {
      #expect(fixture.removeDirectory("b", in: short[place - 1]) == .ok)
    }
    #expect(fixture.rename("b", to: "b", into: long[levels - 2]) == .ok)
  }
}
