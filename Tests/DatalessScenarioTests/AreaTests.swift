import DatalessCore
import DatalessScenario
import Testing

/// `areas`: what the data in some directories is for.
@Suite struct AreaTests {
  private static func describe(_ areas: Areas) -> [String] {
    areas.list.map { area in
      let flags = [(area.isBackedUp, "backup"), (area.isPurged, "purge"), (area.isCounted, "counted")]
      let words = flags.filter(\.0).map(\.1).joined(separator: "+")
      return "\(area.name) \(area.pathText) \(area.category.rawValue) \(words)\(area.app == nil ? "" : " app")"
    }
  }

  @Test func areasAreRead() throws {
    let document = try ScenarioText.parse(
      """
      areas:
        - {path: /var/tmp/, category: temporary, backup: on}
        - {name: tiles, path: "a/*/tiles", category: caches, purge: off, counted: on, app: {exe: maps}}
        - {path: 5, category: offline}
      """)
    #expect(
      Self.describe(document.simulation.areas) == [
        "var/tmp var/tmp temporary backup+purge", "tiles a/*/tiles caches counted app", "5 5 offline counted",
      ])
    #expect(try ScenarioDocument(parsing: document.json(pretty: true), name: "again") == document)
  }

  @Test func aPresetIsSeveral() throws {
    let ios = [
      "Documents Documents documents backup+counted", "Library Library support backup+counted",
      "Library/Application Support Library/Application Support support backup+counted",
      "Library/Preferences Library/Preferences support backup+counted", "Library/Caches Library/Caches caches purge",
      "tmp tmp temporary purge",
    ]
    #expect(Self.describe(try ScenarioText.parse("areas: ios").simulation.areas) == ios)
    #expect(Self.describe(try ScenarioText.parse("areas: [{preset: ios}]").simulation.areas) == ios)
    let apps = try ScenarioText.parse(
      "areas:\n  - {preset: ios, path: \"apps/*\"}\n  - {path: \"apps/*/tmp\", category: caches}\n")
    #expect(
      Self.describe(apps.simulation.areas).filter { $0.contains("/tmp ") } == ["apps/*/tmp apps/*/tmp caches purge"])
    #expect(apps.simulation.areas.list.count == 6)
  }

  @Test func theyAreChangedOnALiveVolume() throws {
    let old = try ScenarioText.parse("areas: ios")
    #expect(try old.setting([("areas", "none")]).simulation.areas.isEmpty)
    #expect(try old.setting([("areas", "[]")]).simulation.areas.isEmpty)
    #expect(try old.setting([("areas", "[{path: /, category: support}]")]).simulation.areas.list.map(\.name) == ["/"])
    #expect(try old.setting([("reserve", "5MB")]).simulation.reserve == 5_000_000)
  }

  @Test(arguments: [
    ("areas: {path: a}", "1:8: a mapping instead of a list. Start each area with '- ', or write ios, or none."),
    ("areas: ipad", "1:8: 'ipad' are no areas. Write a list, ios, or none."),
    (
      "areas: [{path: a}]",
      "1:9: an area without 'category'. Write 'path: Library/Caches' and 'category: caches', or 'preset: ios'."
    ),
    (
      "areas: [{category: caches}]",
      "1:9: an area without 'path'. Write 'path: Library/Caches' and 'category: caches', or 'preset: ios'."
    ),
    (
      "areas: [{path: a/../b, category: caches}]",
      "1:16: 'a/../b' is no path of an area: each component is a name, or * for any. Write the path from the volume's root, "
        + "without '.', '..' and other wildcards."
    ),
    (
      "areas: [{path: \"a*\", category: caches}]",
      "1:16: 'a*' is no path of an area: each component is a name, or * for any. Write the path from the volume's root, "
        + "without '.', '..' and other wildcards."
    ),
    (
      "areas: [{path: a, category: offline, purge: on}]",
      "1:9: offline data is expected to be here, so it is never purged. Remove 'purge', or use caches."
    ),
    (
      "areas: [{preset: ios, category: caches}]",
      "1:9: a preset says 'category' itself. Remove it, or give the directory that is meant an area of its own beside the "
        + "preset."
    ),
    (
      "areas: [{path: a, category: caches}, {path: /a/, category: support}]",
      "1:38: there is an area for 'a' already. Remove one of them."
    ),
    (
      "areas: [{path: a, category: caches}, {path: b, name: a, category: support}]",
      "1:38: there is an area of this name already. Give it another one."
    ),
    (
      "areas: [{path: a, category: cache}]",
      "1:29: unknown category 'cache'. Did you mean 'caches'? It is one of documents, support, caches, temporary, offline."
    ),
    (
      "areas: [{path: a, category: caches, exe: x}]",
      "1:37: unknown field 'exe' in an area. It is about the app: write 'app: {exe: ...}'."
    ),
  ])
  func aWrongAreaIsRefused(text: String, message: String) {
    #expect(ScenarioText.verdict(text) == "s.yaml:" + message)
  }
}
