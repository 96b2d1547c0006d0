import DatalessControl
import DatalessCore

/// An inventory, in the words of the control API.
extension InventoryReport {
  init(_ inventory: Inventory, path: [UInt8], since: String?) {
    let areas = inventory.areas
    func name(_ place: Areas.Place?) -> String? { place.map { areas.area($0).name } }
    func file(_ entry: Inventory.Entry) -> InventoryFile { InventoryFile(entry, areas) }
    self.init(
      path: path, total: InventorySum(inventory.total), directories: inventory.directories,
      unlistedDirectories: inventory.unlisted,
      areas: inventory.places.map { InventoryArea($0.place, $0.sum, areas: areas) },
      categories: inventory.categories.map {
        InventoryCategory(category: $0.category?.rawValue, sum: InventorySum($0.sum))
      },
      excluded: inventory.exclusions.map {
        InventoryExclusion(reason: $0.reason, files: $0.files, bytes: $0.bytes)
      },
      largest: inventory.largest.map(file),
      untouched: InventoryUntouched(
        since: since, files: inventory.untouched.files, bytes: inventory.untouched.bytes,
        largest: inventory.largestUntouched.map(file)),
      moved: InventoryMoves(
        count: inventory.movedCount,
        items: inventory.moved.map {
          InventoryMove(path: $0.item.path, from: name($0.item.formerArea ?? nil), to: name($0.item.place))
        }),
      repeated: InventoryRepeats(
        files: inventory.repeated.files, bytes: inventory.repeated.bytes,
        groups: inventory.equals.map { group in
          InventoryGroup(sizeBytes: group.size, paths: group.paths.map { WirePath($0) })
        },
        unknownFiles: inventory.unknown.files, unknownBytes: inventory.unknown.bytes),
      tree: inventory.tree.map {
        InventoryDirectory(
          path: $0.path, storedBytes: $0.stored, residentBytes: $0.local, category: $0.category?.rawValue)
      })
  }
}

extension InventorySum {
  init(_ sum: Inventory.Sum) {
    self.init(
      files: sum.files, storedBytes: sum.stored, residentBytes: sum.local, datalessBytes: sum.dataless,
      dirtyBytes: sum.dirty, purgeableBytes: sum.purgeable, evictableBytes: sum.evictable,
      backupBytes: sum.backedUp, countedBytes: sum.counted)
  }
}

extension InventoryArea {
  init(_ place: Areas.Place?, _ sum: Inventory.Sum, areas: Areas) {
    let area = place.map { areas.area($0) }
    self.init(
      area: area?.name, category: area?.category.rawValue, app: place?.app, isBackedUp: area?.isBackedUp ?? true,
      isPurged: area?.isPurged ?? false, isCounted: area?.isCounted ?? true, sum: InventorySum(sum))
  }
}

extension InventoryFile {
  init(_ entry: Inventory.Entry, _ areas: Areas) {
    let area = entry.item.place.map { areas.area($0) }
    self.init(
      path: entry.item.path, sizeBytes: entry.item.size, residentBytes: entry.item.localBytes,
      isDirty: entry.item.isDirty, area: area?.name, category: area?.category.rawValue,
      purge: entry.item.purge?.rawValue, backup: entry.backup.word, isCounted: area?.isCounted ?? true)
  }
}
