public import DatalessControl

/// An inventory, for a terminal.
public enum InventoryText {
  public static func lines(_ report: InventoryReport) -> [String] {
    var lines = [title(report)]
    lines += table("AREA", report.areas.map { (area($0), $0.sum) })
    if report.categories.count > 1 {
      lines += table(
        "CATEGORY", report.categories.map { ($0.category.map { TerminalText.escaped($0) } ?? "-", $0.sum) })
    }
    lines += files("LARGEST", report.largest)
    lines += excluded(report)
    let since = report.untouched.since.map { "the mark \(TerminalText.escaped($0))" } ?? "the mount"
    lines.append("")
    lines.append(
      "untouched since \(since): \(HumanText.count(report.untouched.files, "file")), "
        + HumanText.size(report.untouched.bytes))
    lines += moved(report.moved) + repeated(report.repeated)
    if report.unlistedDirectories > 0 {
      lines.append(
        "not counted: what is in "
          + HumanText.count(report.unlistedDirectories, "directory", plural: "directories")
          + " that nobody has listed yet")
    }
    return lines
  }

  static func title(_ report: InventoryReport) -> String {
    let sum = report.total
    return "\(HumanText.count(sum.files, "file")) in "
      + "\(HumanText.count(report.directories, "directory", plural: "directories")): \(HumanText.size(sum.storedBytes)) "
      + "stored, \(HumanText.size(sum.residentBytes)) resident, \(HumanText.size(sum.dirtyBytes)) dirty, "
      + "\(HumanText.size(sum.purgeableBytes)) purgeable, \(HumanText.size(sum.backupBytes)) in the backup, "
      + "\(HumanText.size(sum.countedBytes)) counted"
  }

  private static func area(_ area: InventoryArea) -> String {
    guard let name = area.area else { return "(no area)" }
    let app = area.appBytes.map { " (\(TerminalText.escaped($0)))" } ?? ""
    return TerminalText.escaped(name) + app
  }

  private static func table(_ title: String, _ rows: [(String, InventorySum)]) -> [String] {
    guard !rows.isEmpty else { return [] }
    var table = TextTable([
      .init(title), .init("FILES", .right), .init("STORED", .right), .init("RESIDENT", .right),
      .init("DIRTY", .right), .init("PURGEABLE", .right), .init("EVICTABLE", .right), .init("BACKUP", .right),
      .init("COUNTED", .right),
    ])
    table.rows = rows.map { name, sum in
      [name, HumanText.count(sum.files)]
        + [
          sum.storedBytes, sum.residentBytes, sum.dirtyBytes, sum.purgeableBytes, sum.evictableBytes, sum.backupBytes,
          sum.countedBytes,
        ].map { HumanText.size($0) }
    }
    return [""] + table.lines
  }

  private static func files(_ title: String, _ files: [InventoryFile]) -> [String] {
    guard !files.isEmpty else { return [] }
    var table = TextTable([
      .init("SIZE", .right), .init("RESIDENT", .right), .init("IS"), .init("BACKUP"), .init(title),
    ])
    table.rows = files.map { file in
      let purge = file.purge.map { TerminalText.escaped($0) }
      let states = [file.isDirty ? "dirty" : nil, purge, file.isCounted ? "counted" : nil].compactMap(\.self)
      return [
        HumanText.size(file.sizeBytes), HumanText.size(file.residentBytes), states.joined(separator: ","),
        backup(file.backup), TerminalText.escaped(file.pathBytes),
      ]
    }
    return [""] + table.lines
  }

  /// `yes`, or `no` and why.
  private static func backup(_ word: String) -> String {
    word == "included" ? "yes" : word == "unknown" ? "unknown" : "no: \(TerminalText.escaped(word))"
  }

  private static func excluded(_ report: InventoryReport) -> [String] {
    guard !report.excluded.isEmpty else { return [] }
    let meanings = [
      "area": "by their area", "mark": "by a mark of their own", "directory": "by a mark of a directory above",
      "unknown": "perhaps: the source did not say",
    ]
    return [""]
      + report.excluded.map { reason in
        "not in the backup \(meanings[reason.reason] ?? TerminalText.escaped(reason.reason)): "
          + "\(HumanText.count(reason.files, "file")), \(HumanText.size(reason.bytes))"
      }
  }

  private static func moved(_ moves: InventoryMoves) -> [String] {
    guard moves.count > 0 else { return [] }
    func name(_ area: String?) -> String { area.map { TerminalText.escaped($0) } ?? "no area" }
    return ["came into another area by a rename: \(HumanText.count(moves.count, "item"))"]
      + moves.items.map { "  \(TerminalText.escaped($0.pathBytes)): from \(name($0.from)) to \(name($0.to))" }
  }

  private static func repeated(_ repeats: InventoryRepeats) -> [String] {
    var lines: [String] = []
    if repeats.files > 0 {
      lines.append(
        "stored more than once: \(HumanText.count(repeats.files, "file")) too many, \(HumanText.size(repeats.bytes))")
    }
    for group in repeats.groups {
      let paths = group.paths.map { TerminalText.escaped($0.bytes) }.joined(separator: ", ")
      lines.append("  \(HumanText.size(group.sizeBytes)): \(paths)")
    }
    if repeats.unknownFiles > 0 {
      lines.append(
        "unknown whether it is stored twice, because it is dataless: \(HumanText.count(repeats.unknownFiles, "file")), "
          + HumanText.size(repeats.unknownBytes))
    }
    return lines
  }
}
