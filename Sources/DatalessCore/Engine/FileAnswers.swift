public import SystemPackage

/// How an open is to be answered.
public enum OpenAnswer: Sendable {
  /// Reads are watched under this handle, and come as the caller of `open` said: the file was dataless, or reads are
  /// observed.
  case dataless(handle: UInt64)
  /// The content is local: the page cache serves reads.
  case resident(handle: UInt64)
  /// The content is local in a file of its own: the kernel reads that file itself, if the backing can be registered. To
  /// be settled by `confirmPassthrough` or `refusePassthrough`.
  case passthrough(ContentID, handle: UInt64)
  /// The profile materializes at open(2): materialize the file, then open it again.
  case needsMaterialization
  /// The file is being evicted: `waitForEviction`, then open it again.
  case isBeingEvicted
  case failed(Errno)
}

/// What became of a passthrough open whose backing could not be registered.
public enum PassthroughRefusal: Sendable, Equatable {
  /// It is a cached open now, with the handle `OpenHandle.asCached`.
  case cached
  /// Another open of the file has a backing by now, beside which the kernel refuses cached opens with EIO: share it.
  case shared
  /// A mapping may be left of an earlier one, through which is written past the volume: cached pages would be old.
  /// Release the handle, and let the open fail.
  case failed
}

/// How an opendir is to be answered.
public enum DirectoryOpenAnswer: Sendable {
  case listed
  case dataless
  /// The profile lists at opendir(3): materialize the directory, then open it again.
  case needsListing
  case failed(Errno)
}

/// How lseek(2) with SEEK_DATA or SEEK_HOLE is to be answered.
public enum SeekAnswer: Sendable, Equatable {
  case offset(Int64)
  /// The profile materializes at such a seek.
  case needsMaterialization
  case failed(FSError)
}

/// How a READ is to be answered.
public enum ReadAnswer: Sendable {
  /// - Parameter count: Bytes that are there to be read at the offset, of those that were asked for; 0 at the end of
  ///   the file.
  case resident(ContentID, count: Int)
  /// The kernel's own repeat of a read that failed a moment ago.
  case repeatedFailure(FSError)
  case needsMaterialization
  case failed(Errno)
}
