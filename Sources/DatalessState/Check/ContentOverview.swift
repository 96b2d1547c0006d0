import DatalessCore
import DatalessStores
import SystemPackage

/// The content that is there.
struct ContentOverview {
  private let store: DiskContentStore?
  private(set) var sizes: [ContentID: Int64] = [:]

  /// Whether content is there, though its file is not this user's alone: its bytes are not believed, and not lost.
  func isRefused(_ id: ContentID) -> Bool { store?.adoption.isRefused(id) ?? false }

  /// Whether a program may have written it: what is fetched into a slab is clean.
  func mayBeDirty(_ id: ContentID) -> Bool { store?.hasOwnFile(id) ?? false }

  init(
    _ directory: StateDirectory, _ names: Set<String>, isDryRun: Bool, report: inout StateCheckReport
  ) throws(FSError) {
    guard names.contains(StateName.content) else {
      store = nil
      return
    }
    let store = try DiskContentStore(
      in: directory.files.directory, path: FilePath(directory.path), lifetime: isDryRun ? .looked : .kept)
    self.store = store
    var sizes: [ContentID: Int64] = [:]
    store.forEachContent { id, size in sizes[id] = size }
    self.sizes = sizes
    report.contents = sizes.count
    report.bytes = sizes.values.reduce(0) { $0.addingReportingOverflow($1).partialValue }
    for name in store.adoption.refusedNames {
      report.add(
        .foreignContent, "content/\(name)",
        message: name.hasPrefix("slab-")
          ? "is no slab, or not this user's alone, or its table is not: look whose it is, then 'chmod go-rwx' both or move them"
            + " away. What is in a slab was fetched, and can be again"
          : "is no content, or not this user's alone: look whose it is, then 'chmod go-rwx' it or move it away",
        repair: nil)
    }
    for number in store.adoption.halfSlabs {
      report.add(
        .lostContent, "content/slab-\(number)", message: "a slab of fetched content, or its table, without the other",
        repair: "removed: what was in it is fetched again")
    }
    for _ in 0..<store.adoption.unfinished {
      report.add(.leftover, "content", message: "content that was begun and never finished", repair: "removed")
    }
    for _ in 0..<store.adoption.refusedSlots {
      report.add(
        .lostContent, "content", message: "a slot of fetched content reaches into another, or beyond its slab",
        repair: "dropped: it is fetched again", isDamage: true)
    }
  }

  /// Removes what nobody names, now that the catalog does not either.
  func removeOthers(than kept: Set<ContentID>, isDryRun: Bool, _ report: inout StateCheckReport) {
    if !isDryRun {
      store?.dropRefusedSlots()
      store?.removeHalfSlabs()
    }
    for id in sizes.keys.sorted(by: { $0.rawValue < $1.rawValue }) where !kept.contains(id) {
      report.add(.leftover, "content", message: "content \(id.rawValue) that no file names", repair: "removed")
      if !isDryRun { store?.remove(id) }
    }
  }
}
