/// The name of a thread: at most 15 bytes, which the thread itself has set, and any of them but 0.
///
/// Two words, so that a caller is copied without counting references.
public struct ThreadName: Sendable, Hashable, BitwiseCopyable {
  private var first: UInt64 = 0
  private var second: UInt64 = 0

  // As the kernel has it: TASK_COMM_LEN without its zero.
  public static let countMax = 15

  /// No name of its own.
  public static let none = ThreadName()

  private init() {}

  /// - Parameter bytes: What is behind a zero, or the 15th byte, is left out.
  public init(_ bytes: some Sequence<UInt8>) {
    for (index, byte) in bytes.prefix(Self.countMax).enumerated() {
      guard byte != 0 else { return }
      if index < 8 { first |= UInt64(byte) << (8 * index) } else { second |= UInt64(byte) << (8 * (index - 8)) }
    }
  }

  public var isEmpty: Bool { first & 0xff == 0 }

  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for index in 0..<Self.countMax {
      let byte = UInt8(truncatingIfNeeded: index < 8 ? first >> (8 * index) : second >> (8 * (index - 8)))
      guard byte != 0 else { break }
      bytes.append(byte)
    }
    return bytes
  }
}
