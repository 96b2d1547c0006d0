@testable import DatalessCore
import Testing

/// What is counted as an item with other attributes: what a program has set, of items that the store has.
@Suite struct OtherAttributesTests {
  private func set(_ node: NodeID, _ fixture: EngineFixture, _ body: (inout AttributeChange) -> Void) {
    var change = AttributeChange()
    body(&change)
    #expect(fixture.set(change, of: node) == nil)
  }

  private func setAttribute(_ value: String?, of node: NodeID, _ fixture: EngineFixture) {
    let name = Array("user.x".utf8)
    if let value {
      fixture.engine.setExtendedAttribute(
        name, to: Array(value.utf8), how: .any, of: node, by: EngineFixture.caller(), waiter: fixture.makeWaiter()
      ) { #expect($0 == nil) }
    } else {
      fixture.engine.removeExtendedAttribute(
        name, of: node, by: EngineFixture.caller(), waiter: fixture.makeWaiter()
      ) { #expect($0 == nil) }
    }
    fixture.lane.runAll()
  }

  @Test func modesOwnersTimesAndExtendedAttributesCountOncePerItem() {
    let fixture = EngineFixture.writable(["a": 10, "b": 10, "c": 10, "d/e": 10])
    let nodes = ["a", "b", "c", "d"].map { fixture.lookUp($0) }
    let mode = fixture.attributes(nodes[0]).map { $0.mode & 0o7777 }
    var count: Int { fixture.engine.changes.otherAttributes }
    set(nodes[0], fixture) { $0.mode = 0o600 }
    #expect(count == 1)
    setAttribute("1", of: nodes[0], fixture)
    #expect(count == 1, "the same item")
    setAttribute("1", of: nodes[1], fixture)
    set(nodes[2], fixture) { $0.modificationTime = .at(Timestamp(seconds: 7, nanoseconds: 0)) }
    set(nodes[3], fixture) { $0.uid = 77 }
    #expect(count == 4)
    // As it was.
    set(nodes[0], fixture) { $0.mode = mode }
    #expect(count == 4, "it has an extended attribute")
    // What has gone is told as a name that was removed.
    #expect(fixture.unlink("b").errno == nil)
    #expect(count == 3 && fixture.engine.changes.namesRemoved == 1)
  }

  @Test func whatFollowsFromOtherChangesDoesNotCount() {
    let fixture = EngineFixture.writable(["a": 10, "d/e": 10])
    let (node, directory) = (fixture.lookUp("a"), fixture.lookUp("d"))
    let made = fixture.makeFile("new", in: directory)
    #expect(made.errno == nil)
    guard let new = made.node else { return }
    set(new, fixture) { $0.mode = 0o600 }
    setAttribute("1", of: new, fixture)
    let (handle, _) = fixture.openForWriting(node)
    #expect(fixture.write([1, 2], to: node, handle, at: 0).errno == nil)
    fixture.close(node, handle)
    #expect(fixture.rename("a", to: "renamed").errno == nil)
    #expect(fixture.engine.changes.otherAttributes == 0)
    set(node, fixture) { $0.mode = 0o600 }
    #expect(fixture.engine.changes.otherAttributes == 1, "it was written to, and has another mode")
  }
}
