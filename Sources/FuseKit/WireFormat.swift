internal import CFuse3

/// Conversions to the structures of the FUSE protocol (linux/fuse.h).
///
/// Entries, attributes and open answers are encoded here rather than by libfuse, because its API lacks half of the
/// open flags and the backing id, takes timeouts as floating point numbers, and wants a struct stat per entry of a
/// listing. Tests hold the encodings against libfuse's own.
extension fuse_attr {
  @inline(__always)
  init(_ attributes: borrowing FuseAttributes) {
    self.init()
    ino = attributes.inode
    size = attributes.size
    blocks = attributes.blocks
    atime = UInt64(bitPattern: attributes.accessTime.seconds)
    mtime = UInt64(bitPattern: attributes.modificationTime.seconds)
    ctime = UInt64(bitPattern: attributes.changeTime.seconds)
    atimensec = attributes.accessTime.nanoseconds
    mtimensec = attributes.modificationTime.nanoseconds
    ctimensec = attributes.changeTime.nanoseconds
    mode = attributes.mode
    nlink = attributes.linkCount
    uid = attributes.uid
    gid = attributes.gid
    rdev = UInt32(truncatingIfNeeded: attributes.specialDevice)
    blksize = attributes.blockSize
  }
}

extension fuse_entry_out {
  @inline(__always)
  init(_ entry: borrowing FuseEntry) {
    self.init()
    nodeid = entry.node.rawValue
    generation = entry.generation
    entry_valid = entry.entryTimeout.seconds
    entry_valid_nsec = entry.entryTimeout.nanoseconds
    attr_valid = entry.attributeTimeout.seconds
    attr_valid_nsec = entry.attributeTimeout.nanoseconds
    attr = fuse_attr(entry.attributes)
  }
}

extension fuse_attr_out {
  init(_ attributes: borrowing FuseAttributes, timeout: CacheTimeout) {
    self.init()
    attr_valid = timeout.seconds
    attr_valid_nsec = timeout.nanoseconds
    attr = fuse_attr(attributes)
  }
}

extension cfuse_open_out {
  init(handle: FuseHandle, options: OpenOptions, backing: BackingID?) {
    self.init()
    fh = handle.rawValue
    open_flags = options.rawValue
    if let backing {
      // The kernel refuses the open with EIO if any other flag comes along, keepCache among them (fs/fuse/iomode.c).
      let allowed = cfuse_fopen_direct_io | cfuse_fopen_noflush | cfuse_fopen_parallel_direct_writes
      open_flags = open_flags & allowed | cfuse_fopen_passthrough
      backing_id = backing.rawValue
    }
  }
}
