extension FuseSession {
  /// How many requests of each kind the kernel sent; those served by its caches are not among them.
  public var requestCounts: [FuseRequestKind: UInt64] {
    var counts: [FuseRequestKind: UInt64] = [:]
    for kind in FuseRequestKind.allCases {
      let count = dispatcher.counters.requests(kind)
      if count > 0 { counts[kind] = count }
    }
    return counts
  }

  /// Replies that were let go without an answer, and so answered EIO. Anything but 0 is a fault of the file system.
  public var droppedReplies: UInt64 { dispatcher.counters.value(.droppedReplies) }

  /// Answers the kernel no longer wanted: killed callers, or the volume's end. Normal.
  public var refusedReplies: UInt64 { dispatcher.counters.value(.refusedReplies) }
}
