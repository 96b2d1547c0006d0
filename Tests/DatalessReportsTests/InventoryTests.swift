import DatalessControl
import Testing

@testable import DatalessReports

/// The treemap of an inventory, and its text.
@Suite struct InventoryTests {
  @Test func rectanglesFillTheSpaceByTheirWeights() {
    let space = Treemap.Rectangle(x: 10, y: 20, width: 600, height: 400)
    for weights in [[6.0, 6, 4, 3, 2, 2, 1], [1.0], [5.0, 5], [1000.0] + (0..<200).map { 200.0 - Double($0) }] {
      let places = Treemap.layout(weights, in: space)
      let sum = weights.reduce(0, +)
      #expect(places.count == weights.count)
      for (weight, place) in zip(weights, places) {
        #expect(abs(place.width * place.height - weight / sum * 240_000) < 0.01)
        #expect(place.x >= 9.999 && place.y >= 19.999)
        #expect(place.x + place.width <= 610.001 && place.y + place.height <= 420.001)
      }
    }
    #expect(Treemap.layout([], in: space) == [])
    #expect(Treemap.layout([0, 0], in: space).count == 2)
  }

  private static let sum = InventorySum(
    files: 2, storedBytes: 5000, residentBytes: 4096, datalessBytes: 904, dirtyBytes: 10, purgeableBytes: 0,
    evictableBytes: 4096, backupBytes: 5000, countedBytes: 5000)

  /// Names are hostile.
  private static let report = InventoryReport(
    path: [], total: sum, directories: 1, unlistedDirectories: 3,
    areas: [
      InventoryArea(
        area: "apps/*", category: "caches", app: Array("<b>\u{1b}".utf8), isBackedUp: false, isPurged: true,
        isCounted: false, sum: sum)
    ],
    categories: [
      InventoryCategory(category: "caches", sum: sum), InventoryCategory(category: "odd\u{1b}[2J", sum: sum),
    ],
    excluded: [InventoryExclusion(reason: "mark", files: 1, bytes: 2)],
    largest: [
      InventoryFile(
        path: Array("<script>alert(1)</script>".utf8), sizeBytes: 5000, residentBytes: 0, isDirty: true,
        purge: "cache\u{7}",
        backup: "area", isCounted: false)
    ],
    untouched: InventoryUntouched(since: nil, files: 1, bytes: 2, largest: []),
    moved: InventoryMoves(count: 1, items: [InventoryMove(path: Array("a\nb".utf8), from: nil, to: "x")]),
    repeated: InventoryRepeats(
      files: 1, bytes: 2, groups: [InventoryGroup(sizeBytes: 2, paths: [WirePath(Array("p".utf8))])], unknownFiles: 4,
      unknownBytes: 5),
    tree: [
      InventoryDirectory(path: Array("\"><script>".utf8), storedBytes: 3000, residentBytes: 0, category: "caches"),
      InventoryDirectory(
        path: Array("\"><script>/inner".utf8), storedBytes: 1000, residentBytes: 1000, category: nil),
      InventoryDirectory(path: Array("other".utf8), storedBytes: 2000, residentBytes: 9000, category: "unheard of"),
    ])

  @Test func thePageHasNoMarkupOfOthers() {
    let page = InventoryPage.html(Self.report)
    #expect(!page.contains("<script") && !page.contains("\u{1b}") && page.contains("default-src 'none'"))
    #expect(page.contains("&lt;script&gt;"))
    #expect(page.count { $0 == "<" } == page.count { $0 == ">" })
    // Three directories, each a rectangle and what of it is resident.
    #expect(page.components(of: "<g>") == 3 && page.components(of: "fill-opacity=\"0.45\"") == 3)
  }

  @Test func theTextSaysEverything() {
    let text = InventoryText.lines(Self.report).joined(separator: "\n")
    for part in [
      "2 files in 1 directory", "apps/* (<b>\\x1b)", "dirty,cache\\x07", "odd\\x1b[2J", "no: area",
      "by a mark of their own",
      "untouched since the mount: 1 file", "a\\nb: from no area to x", "stored more than once: 1 file too many",
      "unknown whether it is stored twice, because it is dataless: 4 files", "3 directories",
    ] {
      #expect(text.contains(part), "\(part) in:\n\(text)")
    }
    #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
  }
}

extension String {
  fileprivate func components(of part: String) -> Int {
    split(separator: part, omittingEmptySubsequences: false).count - 1
  }
}
