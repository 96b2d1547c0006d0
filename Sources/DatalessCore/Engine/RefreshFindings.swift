/// What a refresh has seen so far and has not put into the namespace yet.
struct RefreshFindings {
  /// A listed directory, as it was when its new listing began.
  struct Place {
    let directory: NodeIndex
    /// Another one means that somebody else has listed it since.
    let epoch: UInt8
    /// Whether listed directories in it are refreshed, too.
    let recurses: Bool
    /// Whether the directory was removed here: it is listed for what was moved out of it.
    let isRemoved: Bool
  }

  /// A name that was not there, or that another item has now: it may be what another name was.
  struct Deferred {
    let place: Place
    let name: [UInt8]
    let item: ListedItem
    /// As `BackingStore.generation`; asked for only when the item may be one that was fetched under another name.
    var generation: UInt32 = 0
  }

  /// A name whose node another name may have by now.
  struct Former {
    let name: NameIndex
    let node: NodeIndex
    /// Whether the item was removed, or moved, on the volume: another item may have the name by the time it is asked.
    let isRemoved: Bool
  }

  struct Displaced {
    let node: NodeIndex
    let directory: NodeIndex
    let name: [UInt8]
  }

  let by: RefreshOrigin
  let keeps: Bool
  /// While it is only looked what would change; nil: what is found is taken over.
  var look: RefreshLook?
  var deferred: [Deferred] = []
  /// Names that the listing of their directory did not have any more.
  var vanished: [NameIndex] = []
  /// Of directories that may have to go.
  var savedBelow = SavedBelow()
  /// Directories with changes whose name another item has, because they seem to have another one: where they were.
  var displaced: [Displaced] = []
  /// Listed directories that were seen.
  var subdirectories: [NodeIndex] = []
  /// Names that lead elsewhere now, or have come or gone, by directory: for the kernel.
  var changedNames: [NodeIndex: [[UInt8]]] = [:]
  var counts = RefreshCounts()

  /// LIMIT: renames are recognized among so many new names at a time; others are an item that came and one that went.
  static let deferredMax = 65_536
  /// LIMIT: records of single changes, of the 65,536 that the log keeps while its disk is slow.
  static let recordsMax: Int64 = 10_000

  init(by: RefreshOrigin, keeps: Bool) {
    self.by = by
    self.keeps = keeps
  }

  /// Whether names came or went that are not settled.
  var hasOpenEnds: Bool { !deferred.isEmpty || !vanished.isEmpty }

  mutating func noteName(_ name: some Sequence<UInt8>, in directory: NodeIndex) {
    changedNames[directory, default: []].append(Array(name))
  }
}
