/// One file name, xattr name or symlink target of a request: borrowed bytes, never a String.
///
/// Valid only during the call it is passed to; copy it with `copy()` to keep it. Names are 1 to 255 bytes without `/`
/// and NUL, of any encoding; symlink targets may be longer and contain `/`.
public struct FuseName {
  /// The bytes without the terminating NUL.
  public let bytes: UnsafeBufferPointer<UInt8>

  /// Wraps borrowed bytes; the caller keeps them alive as long as the name is used.
  public init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  public var count: Int { bytes.count }

  /// The bytes as an array of their own.
  public func copy() -> [UInt8] { [UInt8](bytes) }

  /// Whether the name has exactly the UTF-8 bytes of `text`.
  public func equals(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { bytes.elementsEqual($0) }
  }
}

// SAFETY: A borrowed pointer must not be sent to another thread that outlives the call.
@available(*, unavailable)
extension FuseName: Sendable {}
