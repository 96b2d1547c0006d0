/// FNV-1a, 64 bits: a key for a path that takes 8 bytes however long the path is.
enum PathHash {
  static func of(_ path: some Sequence<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in path { hash = (hash ^ UInt64(byte)) &* 0x0100_0000_01b3 }
    return hash
  }
}
