internal import CDatalessLinux

/// Which file systems answer in the time of a disk of this machine.
///
/// The same have inode numbers with generations, if they make handles at all (name_to_handle_at(2)): a handle of a FUSE
/// file system may name one file today and another tomorrow.
///
/// By the type that statfs(2) tells: a list of those known to be local, because a network or FUSE file system that is
/// not in a list of slow ones would stop the volume's request threads. Unknown ones count as slow, which costs some
/// speed only.
enum FastLocalFileSystems {
  // linux/magic.h; ZFS and bcachefs define their own.
  private static let types: Set<UInt32> = [
    0xEF53,  // ext2, ext3, ext4
    0x5846_5342,  // XFS
    0x9123_683E,  // Btrfs
    0x0102_1994,  // tmpfs
    0x8584_58F6,  // ramfs
    0xF2F5_2010,  // F2FS
    0x794C_7630,  // overlayfs
    0x2FC1_2FC1,  // ZFS
    0xCA45_1A4E,  // bcachefs
    0x7371_7368,  // SquashFS
    0xE0F5_E1E2,  // EROFS
  ]

  /// Whether the file system of an open file is one of them. Never blocks on a local one.
  static func contains(_ descriptor: CInt) -> Bool {
    types.contains(UInt32(truncatingIfNeeded: clinux_file_system_type(descriptor)))
  }

  /// Whether the file system of an open file is known to note each store into a mapping, and to grant write leases
  /// while nobody has a mapping. tmpfs notes no store into a page that was read through the mapping before.
  static func seesStores(_ descriptor: CInt) -> Bool {
    [0xEF53, 0x5846_5342, 0x9123_683E].contains(UInt32(truncatingIfNeeded: clinux_file_system_type(descriptor)))
  }

  /// Whether an open file is on NFS, whose handles are the server's.
  static func isNFS(_ descriptor: CInt) -> Bool { clinux_file_system_type(descriptor) == 0x6969 }
}
