/// The upper part of a thread's stack, from its stack pointer on, as it was when the thread waited.
public struct StackCopy: Sendable, Equatable {
  /// The stack pointer.
  public let start: UInt64
  public let bytes: [UInt8]

  // LIMIT: bytes of one copy. 256 KiB hold several hundred frames and take 30 us (S13).
  public static let bytesMax = 256 << 10

  public init(start: UInt64, bytes: [UInt8]) {
    self.start = start
    self.bytes = bytes
  }

  /// nil outside of the copy.
  public func word(at address: UInt64) -> UInt64? {
    guard address >= start else { return nil }
    return bytes.word(UInt64.self, at: address - start)
  }

  /// What is read of a stack: up to the end of its mapping, at most `bytesMax`.
  ///
  /// - Returns: nil when the stack pointer is in no readable mapping.
  static func range(from stackPointer: UInt64, in mappings: MappingTable) -> Range<UInt64>? {
    guard let mapping = mappings.mapping(at: stackPointer), mapping.isReadable else { return nil }
    return stackPointer..<stackPointer + min(mapping.end - stackPointer, UInt64(bytesMax))
  }
}
