/// What a WRITE asks for.
public struct WriteRequest {
  public let handle: FuseHandle
  /// First byte, 0 or more; offset + bytes.count does not overflow.
  public let offset: Int64
  /// The bytes to write, valid only during the call.
  public let bytes: UnsafeRawBufferPointer
  /// The open flags of the handle (O_APPEND, O_SYNC, ...).
  public let openFlags: Int32
  public let lockOwner: UInt64
  /// Whether the page cache writes back on its own account: then context and handle need not be the writer's.
  public let isWriteback: Bool
}
