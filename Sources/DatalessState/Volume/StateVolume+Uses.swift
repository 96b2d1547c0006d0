public import DatalessCore
internal import Synchronization

/// When files were used last.
extension StateVolume {
  /// The last use that was kept.
  public var lastKeptUse: UInt32 { lastKept.load(ordering: .relaxed) }

  /// Rows that are written in one transaction: others commit in between.
  private static let usesAtATime = 1024

  /// Keeps uses, so that a later run knows what was used least recently. May take long; on a thread that nobody waits
  /// for.
  ///
  /// - Parameter goesOn: Asked before each transaction. What is not kept then keeps its former place in the order.
  /// - Throws: ENOSPC, EDQUOT, EIO.
  public func keepUses(_ uses: KeptUses, while goesOn: () -> Bool = { true }) throws(FSError) {
    // Files have their rows by then.
    if journal.backlog > 0 { try journal.commit() }
    var rest = uses.files[...]
    repeat {
      guard goesOn() else { return }
      let part = rest.prefix(Self.usesAtATime)
      let isFirst = part.startIndex == uses.files.startIndex
      rest = rest.dropFirst(Self.usesAtATime)
      try journal.write("cannot keep what was used") { writer, connection in
        // First of all: no later run is to give these numbers again.
        if isFirst { try connection.keep(uses) }
        for file in part {
          guard let id = writer.item(of: file.node), var row = try connection.item(id), row.record.use != file.use
          else { continue }
          row.record.use = file.use
          try row.save(connection)
        }
      }
    } while !rest.isEmpty
    lastKept.store(uses.last, ordering: .relaxed)
  }
}
