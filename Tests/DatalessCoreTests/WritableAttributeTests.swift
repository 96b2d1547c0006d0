@testable import DatalessCore
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Owners, modes, times, extended attributes and ACLs of a writable volume.
@Suite struct WritableAttributeTests {
  @Test func aNewItemBelongsToItsMakerAndToTheGroupOfASetgidDirectory() {
    let fixture = EngineFixture.writable([:])
    let plain = fixture.makeDirectory("plain").node!
    let shared = fixture.makeDirectory("shared").node!
    var change = AttributeChange()
    (change.mode, change.gid) = (0o2775, 50)
    fixture.set(change, of: shared)
    change = AttributeChange()
    change.mode = 0o2775
    fixture.set(change, of: shared)
    for (directory, gid, mode) in [(plain, UInt32(1001), UInt32(0o40755)), (shared, 50, 0o42755)] {
      let child = fixture.attributes(fixture.makeDirectory("d", in: directory).node!)!
      #expect(child.uid == 1000 && child.gid == gid && child.mode == mode)
      let file = fixture.attributes(fixture.makeFile("f", in: directory).node!)!
      #expect(file.uid == 1000 && file.gid == gid && file.mode == 0o100644)
    }
    #expect(fixture.attributes(shared)?.linkCount == 3)
    #expect(fixture.attributes(.root)?.linkCount == 4)
  }

  @Test func numbersOfWhatIsMadeLieApart() {
    let fixture = EngineFixture.writable(["a": 1])
    fixture.store.edit("a") { $0.attributes.inode = 1 << 62 | 40 }
    let first = fixture.attributes(fixture.makeFile("x").node!)!.inode
    let second = fixture.attributes(fixture.makeDirectory("y").node!)!.inode
    #expect(first == 1 << 62 | 41 && second == 1 << 62 | 42)
    var numbers = MadeNumbers(first: (1 << 62) - 1)
    #expect(numbers.take(above: 0) == .max >> 1)
    #expect(numbers.take(above: 0) == nil)
  }

  /// Before each first write the kernel asks for them: the store, which may hang, is not asked.
  @Test func whatIsOpenForWritingHasNoCapabilities() {
    func isAbsent(_ name: String, _ node: NodeID, _ fixture: EngineFixture) -> Bool {
      let answer = Array(name.utf8).withUnsafeBufferPointer { fixture.engine.extendedAttributeCall(node, name: $0) }
      if case .absent = answer { return true }
      return false
    }
    let fixture = EngineFixture.writable(["a": 10])
    let node = fixture.lookUp("a")
    fixture.bring(node, .read)
    let reader = fixture.open(node)
    #expect(!isAbsent("security.capability", node, fixture))
    let (writer, _) = fixture.openForWriting(node)
    #expect(isAbsent("security.capability", node, fixture) && !isAbsent("user.x", node, fixture))
    fixture.close(node, writer)
    #expect(!isAbsent("security.capability", node, fixture), "nothing was written")
    let (second, _) = fixture.openForWriting(node)
    fixture.write([1], to: node, second, at: 0)
    fixture.close(node, second)
    #expect(isAbsent("security.capability", node, fixture))
    fixture.close(node, reader)
  }

  @Test func aChangeOfDataClearsSetuidWhenItIsToldTo() {
    let fixture = EngineFixture.writable([:])
    let (made, handle) = fixture.create("a")
    let node = made.node!
    var change = AttributeChange()
    change.mode = 0o6777
    fixture.set(change, of: node)
    #expect(fixture.attributes(node)?.mode == 0o106777)
    _ = [UInt8(1)].withUnsafeBytes {
      fixture.engine.write($0, to: node, WriteAccess(handle: handle, offset: 0, clearsSetID: true))
    }
    #expect(fixture.attributes(node)?.mode == 0o100777)
    change.mode = 0o6745
    fixture.set(change, of: node)
    change = AttributeChange()
    change.uid = 7
    fixture.set(change, of: node)
    // The group may not execute it: setgid means mandatory locking, and stays.
    #expect(fixture.attributes(node)?.mode == 0o102745)
  }

  /// Which times a call moves: of the item, and of its directory.
  @Test func timesMoveAsPOSIXWantsIt() {
    let fixture = EngineFixture.writable(["old": 10])
    let directory = fixture.makeDirectory("d").node!
    let (made, handle) = fixture.create("a", in: directory)
    let node = made.node!
    func moved(_ node: NodeID, _ call: () -> Void) -> String {
      let before = fixture.attributes(node)!
      call()
      let now = fixture.attributes(node)!
      return (now.accessTime != before.accessTime ? "a" : "")
        + (now.modificationTime != before.modificationTime ? "m" : "")
        + (now.changeTime != before.changeTime ? "c" : "")
    }
    #expect(moved(node) { fixture.write([1], to: node, handle, at: 0) } == "mc")
    #expect(moved(directory) { fixture.write([1], to: node, handle, at: 0) } == "")
    #expect(moved(node) { fixture.truncate(node, to: 1) } == "mc")
    var change = AttributeChange()
    change.mode = 0o600
    #expect(moved(node) { fixture.set(change, of: node) } == "c")
    change = AttributeChange()
    change.modificationTime = .at(Timestamp(seconds: 5, nanoseconds: 6))
    #expect(moved(node) { fixture.set(change, of: node) } == "mc")
    #expect(fixture.attributes(node)?.modificationTime == Timestamp(seconds: 5, nanoseconds: 6))
    change.modificationTime = nil
    change.accessTime = .now
    #expect(moved(node) { fixture.set(change, of: node) } == "ac")
    #expect(moved(node) { _ = fixture.link(node, as: "b", in: directory) } == "c")
    #expect(moved(directory) { _ = fixture.link(node, as: "c", in: directory) } == "mc")
    #expect(moved(node) { _ = fixture.unlink("c", in: directory) } == "c")
    #expect(moved(directory) { _ = fixture.unlink("b", in: directory) } == "mc")
    #expect(moved(node) { _ = fixture.rename("a", in: directory, to: "e") } == "c")
    #expect(moved(directory) { _ = fixture.rename("e", to: "a", into: directory) } == "mc")
    #expect(moved(.root) { _ = fixture.rename("a", in: directory, to: "old") } == "mc")
    #expect(moved(node) { _ = fixture.setAttribute("user.a", [1], of: node) } == "c")
  }

  @Test func whatTheStoreHasIsShownBesideWhatWasChangedHere() {
    let fixture = EngineFixture.writable(["a": 10])
    fixture.store.edit("a") { $0.xattrs = ["user.a": [1], "user.b": [2]] }
    let node = fixture.lookUp("a")
    #expect(fixture.setAttribute("user.a", [3], of: node) == nil)
    #expect(fixture.setAttribute("user.c", [4], of: node) == nil)
    #expect(fixture.removeAttribute("user.b", of: node) == nil)
    #expect(fixture.removeAttribute("user.b", of: node) == "ENODATA")
    #expect(fixture.removeAttribute("user.z", of: node) == "ENODATA")
    #expect(fixture.setAttribute("user.a", [5], .create, of: node) == "EEXIST")
    #expect(fixture.setAttribute("user.z", [5], .replace, of: node) == "ENODATA")
    #expect(fixture.setAttribute("user.dataless.state", [5], of: node) == "EPERM")
    #expect(fixture.setAttribute("system.nfs4_acl", [5], of: node) == "EOPNOTSUPP")
    #expect(fixture.attributeNames(of: node) == ["user.a", "user.c"])
    #expect(fixture.attribute("user.b", of: node) == "absent")
    #expect(fixture.attribute("user.c", of: node) == "\u{4}")
    #expect(fixture.store.bytes("a").count == 10 && fixture.engine.isDataless(node))
    // The limits of one item.
    #expect(fixture.setAttribute("user.d", [UInt8](repeating: 1, count: 64 << 10), of: node) == nil)
    #expect(fixture.setAttribute("user.e", [UInt8](repeating: 1, count: 64 << 10), of: node) == "ENOSPC")
  }

  @Test func aWriteTakesCapabilitiesAway() {
    let fixture = EngineFixture.writable(["a": 10])
    fixture.store.edit("a") { $0.xattrs = ["security.capability": [1]] }
    let node = fixture.lookUp("a")
    #expect(fixture.attribute("security.capability", of: node) == "ask")
    let (handle, _) = fixture.openForWriting(node)
    fixture.write([1], to: node, handle, at: 0)
    #expect(fixture.attribute("security.capability", of: node) == "absent")
    #expect(fixture.setAttribute("security.capability", [2], of: node) == nil)
    #expect(fixture.attribute("security.capability", of: node) == "\u{2}")
    _ = [UInt8(1)].withUnsafeBytes {
      fixture.engine.write($0, to: node, WriteAccess(handle: handle, offset: 0, isDirect: true))
    }
    #expect(fixture.attribute("security.capability", of: node) == "absent")
  }

  // MARK: - ACLs

  private static func acl(_ entries: [(PosixACL.Entry.Tag, UInt8)]) -> [UInt8] {
    [2, 0, 0, 0] + entries.flatMap { [UInt8($0.rawValue), 0, $1, 0, 255, 255, 255, 255] }
  }

  @Test func anACLIsInheritedAndLimitsTheMode() {
    let fixture = EngineFixture.writable(["d/x": 1])
    let value = Self.acl([(.userObject, 7), (.user, 7), (.groupObject, 5), (.mask, 6), (.other, 4)])
    fixture.store.edit("d") { $0.xattrs = ["system.posix_acl_default": value] }
    let d = fixture.node("d")
    let file = fixture.makeFile("f", in: d).node!
    // Not the umask, but the ACL.
    #expect(fixture.attributes(file)?.mode == 0o100644)
    let own = Self.acl([(.userObject, 6), (.user, 7), (.groupObject, 5), (.mask, 4), (.other, 4)])
    #expect(fixture.attributeBytes("system.posix_acl_access", of: file) == own)
    let child = fixture.makeDirectory("c", in: d, mode: 0o777).node!
    #expect(fixture.attributes(child)?.mode == 0o40764)
    #expect(fixture.attributeBytes("system.posix_acl_default", of: child) == value)
    // chmod changes what the ACL says, and the other way round.
    var change = AttributeChange()
    change.mode = 0o600
    fixture.set(change, of: file)
    let closed = Self.acl([(.userObject, 6), (.user, 7), (.groupObject, 5), (.mask, 0), (.other, 0)])
    #expect(fixture.attributeBytes("system.posix_acl_access", of: file) == closed)
    #expect(fixture.setAttribute("system.posix_acl_access", own, of: file) == nil)
    #expect(fixture.attributes(file)?.mode == 0o100644)
    let plain = Self.acl([(.userObject, 6), (.groupObject, 0), (.other, 0)])
    #expect(fixture.setAttribute("system.posix_acl_access", plain, of: file) == nil)
    #expect(fixture.attributes(file)?.mode == 0o100600)
    #expect(fixture.attribute("system.posix_acl_access", of: file) == "absent")
    #expect(fixture.setAttribute("system.posix_acl_access", [2, 0, 0, 0, 1], of: file) == "EINVAL")
  }

  @Test func whoIsNotInTheGroupLosesSetgidWithAnACL() {
    let fixture = EngineFixture.writable([:])
    let node = fixture.makeFile("f").node!
    let plain = Self.acl([(.userObject, 7), (.groupObject, 7), (.other, 5)])
    for (gid, mode) in [(UInt32(1001), UInt32(0o102775)), (7, 0o100775)] {
      var change = AttributeChange()
      change.gid = gid
      fixture.set(change, of: node)
      change = AttributeChange()
      change.mode = 0o2755
      fixture.set(change, of: node)
      #expect(fixture.setAttribute("system.posix_acl_access", plain, of: node) == nil)
      #expect(fixture.attributes(node)?.mode == mode)
    }
  }

  @Test func namesOfNoKindAreRefused() {
    let fixture = EngineFixture.writable([:])
    let node = fixture.makeFile("f").node!
    for name in ["nonamespace", "strange.name", "system.other", "dataless"] {
      #expect(fixture.setAttribute(name, [1], of: node) == "EOPNOTSUPP", "\(name)")
      #expect(fixture.attribute(name, of: node) == "unsupported", "\(name)")
    }
  }

  @Test(arguments: TestSeed.seeds) func anACLIsReadBackAsItWas(seed: UInt64) {
    var random = TestRandom(seed: seed)
    let tags: [PosixACL.Entry.Tag] = [.userObject, .user, .groupObject, .group, .mask, .other]
    for _ in 0..<2_000 {
      let bytes =
        random.oneIn(3)
        ? (0..<random.below(60)).map { _ in random.byte() }
        : Self.acl((0..<random.below(8)).map { _ in (random.element(of: tags), UInt8(random.below(9))) })
      guard let acl = PosixACL(bytes) else { continue }
      #expect(acl.bytes == bytes, "seed \(seed)")
      let mode = UInt32(random.below(512))
      #expect(acl.adjusted(to: mode).mode == mode, "seed \(seed)")
      #expect(acl.inherited(mode: mode).mode & ~mode == 0, "seed \(seed)")
    }
  }
}

extension EngineFixture {
  private func wait(_ call: (@escaping @Sendable (FSError?) -> Void) -> Void) -> String? {
    let answer = Mutex<String?>("never")
    call { error in answer.withLock { $0 = error?.errno.name } }
    lane.runAll()
    return answer.withLock { $0 }
  }

  func setAttribute(
    _ name: String, _ value: [UInt8], _ how: AttributeExistence = .any, of node: NodeID
  ) -> String? {
    wait {
      engine.setExtendedAttribute(
        Array(name.utf8), to: value, how: how, of: node, by: Self.maker, waiter: makeWaiter(), completion: $0)
    }
  }

  func removeAttribute(_ name: String, of node: NodeID) -> String? {
    wait {
      engine.removeExtendedAttribute(
        Array(name.utf8), of: node, by: Self.maker, waiter: makeWaiter(), completion: $0)
    }
  }

  func attributeNames(of node: NodeID) -> [String] {
    let names = Mutex<[UInt8]>([])
    engine.extendedAttributeNames(of: node, threadID: 10, waiter: makeWaiter()) { result in
      if case .success(let bytes) = result { names.withLock { $0 = bytes } }
    }
    lane.runAll()
    return names.withLock { $0 }.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The value that is known without the store.
  func attributeBytes(_ name: String, of node: NodeID) -> [UInt8]? {
    let answer = Array(name.utf8).withUnsafeBufferPointer { engine.extendedAttributeCall(node, name: $0) }
    if case .value(let value) = answer { return value }
    return nil
  }
}
