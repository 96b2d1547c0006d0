@testable import DatalessCore
import TestSupport
import Testing

/// Which area a path lies in, and whose it is.
@Suite struct AreasTests {
  private static func area(_ path: String, _ category: AreaCategory, app: ProcessMatch? = nil) -> Area {
    var area = Area(name: "", path: Area.components(of: path.utf8), category: category, app: app)
    area.name = area.pathText
    return area
  }

  private static func place(_ path: String, _ areas: Areas) -> String {
    guard let place = areas.place(of: Array(path.utf8)) else { return "none" }
    let app = place.app.map { " " + String(decoding: $0, as: UTF8.self) } ?? ""
    return areas.area(place).name + app
  }

  @Test func theLongestPathDecides() {
    let areas = Areas(Area.ios(in: []))
    for (path, area) in [
      ("", "none"), ("a", "none"), ("Documents", "Documents"), ("Documents/a/b", "Documents"),
      ("Documentsx", "none"), ("Library", "Library"), ("Library/x", "Library"), ("Library/Caches", "Library/Caches"),
      ("Library/Caches/a/Documents/b", "Library/Caches"),
      ("Library/Application Support/x", "Library/Application Support"),
      ("tmp/a", "tmp"), ("x/tmp/a", "none"),
    ] {
      #expect(Self.place(path, areas) == area, "\(path)")
    }
    #expect(Areas([Self.area("/", .documents)]).place(of: Array("a/b".utf8)) == Areas.Place(area: 0, app: nil))
    #expect(Self.place("", Areas([Self.area("/", .documents)])) == "/")
    #expect(Areas.none.place(of: Array("a".utf8)) == nil)
  }

  @Test func anyNameIsAnAppAndANameGoesBeforeIt() {
    let areas = Areas(
      [Self.area("Containers/maps/Library/Offline", .offline)]
        + Area.ios(in: Area.components(of: "Containers/*".utf8)))
    for (path, area) in [
      ("Containers", "none"), ("Containers/maps", "none"), ("Containers/maps/tmp/x", "Containers/*/tmp maps"),
      ("Containers/maps/Library/Offline/a", "Containers/maps/Library/Offline"),
      ("Containers/mail/Library/Offline/a", "Containers/*/Library mail"),
      ("Containers/maps/Library/Caches/a", "Containers/*/Library/Caches maps"),
    ] {
      #expect(Self.place(path, areas) == area, "\(path)")
    }
  }

  @Test func ofDeepestAreasTheOneWithNamesCounts() {
    let areas = Areas([Self.area("a/*", .caches), Self.area("*/b", .documents), Self.area("a/b/c", .offline)])
    #expect(Self.place("a/b", areas) == "*/b a" || Self.place("a/b", areas) == "a/* b")
    #expect(Self.place("a/b/c/d", areas) == "a/b/c")
    #expect(Self.place("x/b/c", areas) == "*/b x")
    #expect(Self.place("a/x/c", areas) == "a/* x")
  }

  /// Against a search through all prefixes.
  @Test func randomPathsLieWhereTheLongestPrefixSays() {
    for seed in TestSeed.first(20) {
      var random = TestRandom(seed: seed)
      let names = ["a", "b", "c"]
      func path(_ length: Int, _ any: Bool) -> String {
        (0..<length).map { _ in any && random.oneIn(4) ? "*" : names[random.below(3)] }.joined(separator: "/")
      }
      var texts: [String] = []
      for _ in 0..<8 {
        let text = path(1 + random.below(4), true)
        if !texts.contains(text) { texts.append(text) }
      }
      let areas = Areas(texts.map { Self.area($0, .caches) })
      for _ in 0..<200 {
        let asked = path(random.below(6), false)
        let parts = asked.split(separator: "/")
        let lengths = texts.map { text -> Int in
          let own = text.split(separator: "/")
          let fits = own.count <= parts.count && zip(own, parts).allSatisfy { $0 == "*" || $0 == $1 }
          return fits ? own.count : 0
        }
        let longest = lengths.max() ?? 0
        let found = areas.place(of: Array(asked.utf8))
        #expect((found.map { lengths[$0.area] } ?? 0) == longest, "seed \(seed): \(asked) in \(texts)")
      }
    }
  }

  @Test func defaultsFollowFromTheCategory() {
    let table = AreaCategory.allCases.map { category in
      let area = Self.area("x", category)
      return "\(category.rawValue) \(area.isBackedUp) \(area.isPurged) \(area.isCounted)"
    }
    #expect(
      table == [
        "documents true false true", "support true false true", "caches false true false",
        "temporary false true false", "offline false false true",
      ])
  }

  // MARK: - Apps

  private static func process(
    _ executable: String? = nil, _ command: String? = nil, _ cgroup: String? = nil
  ) -> ProcessFacts {
    ProcessFacts(
      executable: executable.map { Array($0.utf8) }, commandName: command.map { Array($0.utf8) },
      cgroup: cgroup.map { Array($0.utf8) }, uid: 0)
  }

  @Test func anAppRunsIfAProcessIsCalledSo() throws {
    let areas = Areas([Self.area("c/*/cache", .caches)])
    let place = try #require(areas.place(of: Array("c/com.example.maps/cache/x".utf8)))
    for (process, runs) in [
      (Self.process("/opt/bin/com.example.maps"), true), (Self.process("/opt/com.example.maps/x"), false),
      (Self.process(nil, "com.example.map"), true), (Self.process(nil, "com.example"), false),
      (Self.process("/x", "x", "/user.slice/com.example.maps/y"), true),
      (Self.process("/x", "x", "/user.slice"), false),
    ] {
      var apps = RunningApps([process])
      let found = apps.runs(place, in: areas)
      #expect(found == runs, "\(process)")
    }
    var match = ProcessMatch()
    match.executables = [try PathPattern(parsing: Array("viewer*".utf8))]
    let named = Areas([Self.area("cache", .caches, app: match)])
    let own = try #require(named.place(of: Array("cache/x".utf8)))
    var apps = RunningApps([Self.process("/usr/bin/viewer-2")])
    let isFound = apps.runs(own, in: named)
    #expect(isFound)
    apps = RunningApps([Self.process("/usr/bin/other")])
    let isOther = apps.runs(own, in: named)
    #expect(!isOther)
  }

  @Test func whatWasUsedLongestAgoIsPurgedFirst() throws {
    let areas = Areas(
      [Self.area("keep", .offline), Self.area("t", .temporary), Self.area("docs", .documents), Self.area("c", .caches)]
        + Area.ios(in: Area.components(of: "apps/*".utf8)))
    func place(_ path: String) throws -> Areas.Place { try #require(areas.place(of: Array(path.utf8))) }
    var order = PurgeOrder()
    order.begin(now: 20)
    order.noteUse(5, at: try place("apps/old/Library/Caches/x"), in: areas)
    order.noteUse(9, at: try place("apps/new/Library/Caches/x"), in: areas)
    // A document of the app is a use of it.
    order.noteUse(8, at: try place("apps/docs/Documents/x"), in: areas)
    order.noteUse(1, at: try place("apps/docs/Library/Caches/x"), in: areas)
    order.noteUse(0, at: try place("c/x"), in: areas)
    order.noteUse(2, at: try place("apps/runs/Library/Caches/x"), in: areas)
    order.end(RunningApps([Self.process("/bin/runs")]), in: areas)
    func stage(_ path: String) -> PurgeOrder.Stage {
      order.stage(of: areas.place(of: Array(path.utf8)), in: areas)
    }
    #expect(stage("t/x") == .purge(.temporary, rank: 0))
    #expect(stage("apps/runs/tmp/x") == .purge(.temporary, rank: 0))
    #expect(stage("c/y") == .purge(.cache, rank: 1))
    #expect(stage("apps/runs/Library/Caches/y") == .keep)
    #expect(stage("apps/old/Library/Caches/y") == .purge(.cache, rank: 3))
    #expect(stage("apps/docs/Library/Caches/y") == .purge(.cache, rank: 4))
    #expect(stage("apps/new/Library/Caches/y") == .purge(.cache, rank: 5))
    #expect(stage("apps/unseen/Library/Caches/y") == .keep)
    #expect(stage("keep/x") == .keep)
    #expect(stage("docs/x") == .evict)
    #expect(stage("elsewhere") == .evict)
    order.forget()
    #expect(stage("c/y") == .keep)
  }
}
