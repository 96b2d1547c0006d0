/// The secret with which names are hashed: 128 random bits for each mount, so that a hostile SOURCE cannot choose names
/// that all lie in one chain, to be walked under the engine's lock. Nothing that is shown or kept follows from it.
public struct NameHashKey: Sendable, Equatable {
  public var low: UInt64
  public var high: UInt64

  /// A known key, for tests, is 0, 0.
  public init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }
}

/// SipHash-1-3 (Aumasson and Bernstein) of a directory and a name in it, with as many rounds as Swift's own `Hasher`
/// has.
struct NameHash {
  private let start: (UInt64, UInt64, UInt64, UInt64)

  init(_ key: NameHashKey) {
    start = (
      key.low ^ 0x736f_6d65_7073_6575, key.high ^ 0x646f_7261_6e64_6f6d, key.low ^ 0x6c79_6765_6e65_7261,
      key.high ^ 0x7465_6462_7974_6573
    )
  }

  /// The message is the parent as eight bytes, then the name.
  func of(parent: UInt32, name: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var (v0, v1, v2, v3) = start
    @inline(__always) func round() {
      v0 &+= v1
      v1 = (v1 << 13 | v1 >> 51) ^ v0
      v0 = v0 << 32 | v0 >> 32
      v2 &+= v3
      v3 = (v3 << 16 | v3 >> 48) ^ v2
      v0 &+= v3
      v3 = (v3 << 21 | v3 >> 43) ^ v0
      v2 &+= v1
      v1 = (v1 << 17 | v1 >> 47) ^ v2
      v2 = v2 << 32 | v2 >> 32
    }
    @inline(__always) func absorb(_ word: UInt64) {
      v3 ^= word
      round()
      v0 ^= word
    }
    absorb(UInt64(parent))
    let raw = UnsafeRawBufferPointer(name)
    var offset = 0
    while offset + 8 <= raw.count {
      absorb(UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
      offset += 8
    }
    var last = UInt64(truncatingIfNeeded: raw.count + 8) << 56
    var shift: UInt64 = 0
    while offset < raw.count {
      last |= UInt64(raw[offset]) << shift
      shift += 8
      offset += 1
    }
    absorb(last)
    v2 ^= 0xff
    round()
    round()
    round()
    return v0 ^ v1 ^ v2 ^ v3
  }
}
