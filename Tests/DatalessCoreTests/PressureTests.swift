@testable import DatalessCore
import SystemPackage
import Testing

/// A disk that gets full, simulated; and why items stay.
@Suite struct PressureTests {
  private static let page = EngineFixture.page

  @Test func asMuchGoesAsIsAskedFor() {
    let fixture = EngineFixture.limited(nil, ["a": Self.page, "b": Self.page, "c": Self.page])
    for name in ["c", "a", "b"] { #expect(fixture.read(name) == nil) }
    #expect(fixture.press(Self.page + 1) == PressureResult(files: 2, bytes: Int64(2 * Self.page)))
    #expect(fixture.resident(["a", "b", "c"]) == ["b"])
    #expect(fixture.evictions == ["c pressure", "a pressure"])
  }

  @Test func whatCannotGoIsLeft() {
    let fixture = EngineFixture.limited(nil, ["a": Self.page, "b": Self.page, "d/c": Self.page], writing: .scratch)
    for name in ["a", "b", "d/c"] { #expect(fixture.read(name) == nil) }
    let handle = fixture.openForWriting(fixture.node("a")).handle
    #expect(fixture.write([1], to: fixture.node("a"), handle, at: 0).count == 1)
    fixture.close(fixture.node("a"), handle)
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("d")) == nil)
    #expect(fixture.read("b", keepsOpen: true) == nil)
    #expect(fixture.press(1 << 30) == PressureResult(files: 0, bytes: 0))
    #expect(fixture.resident(["a", "b", "d/c"]).count == 3)
  }

  @Test func refusalsHaveNamesAndErrnos() {
    let files = ["open": 10, "dirty": 10, "pinned": 10, "x": 10, "d/local": 10]
    let fixture = EngineFixture.limited(nil, files, links: [("y", to: "x")], writing: .scratch)
    for name in files.keys { #expect(fixture.read(name, keepsOpen: name == "open") == nil) }
    let node = fixture.node("dirty")
    let handle = fixture.openForWriting(node).handle
    #expect(fixture.write([1], to: node, handle, at: 0).count == 1)
    fixture.close(node, handle)
    #expect(fixture.makeFile("made").node != nil)
    let made = fixture.node("made")
    let writer = fixture.openForWriting(made).handle
    #expect(fixture.write([1], to: made, writer, at: 0).count == 1)
    fixture.close(made, writer)
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("pinned")) == nil)
    var found: [String: String] = [:]
    for name in ["open", "dirty", "pinned", "x", "d", "made"] {
      found[name] = fixture.refusal(name).map { "\($0.reason.rawValue) \($0.errno.name)" }
    }
    #expect(
      found == [
        "open": "open EBUSY", "dirty": "dirty EBUSY", "pinned": "pinned EPERM", "x": "several_names EMLINK",
        "d": "children EBUSY", "made": "dirty EBUSY",
      ])
    let reasons = fixture.events.all.compactMap { event -> String? in
      guard case .evictionRefused(let record) = event else { return nil }
      return record.reason?.rawValue
    }
    #expect(reasons == ["open", "dirty", "pinned", "several_names", "children", "dirty"])
  }
}
