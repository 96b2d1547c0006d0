/// Inode numbers for items whose device is not that of SOURCE itself.
///
/// Two file systems use the same numbers for different files, while st_ino must be unique on the volume. The number is a
/// hash of (device, inode) with bit 63 set, which no local file system uses: the same at each mount, without any table.
enum ForeignInode {
  static func number(device: UInt64, inode: UInt64) -> UInt64 {
    var value = device &* 0x9e37_79b9_7f4a_7c15 ^ inode
    // The finalizer of splitmix64: each input bit moves each output bit.
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return (value ^ (value >> 31)) | 1 << 63
  }
}
