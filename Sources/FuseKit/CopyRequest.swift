/// What a COPY_FILE_RANGE asks for.
public struct CopyRequest: Sendable, Hashable {
  public let source: FuseNode
  public let sourceHandle: FuseHandle
  public let sourceOffset: Int64
  public let destination: FuseNode
  public let destinationHandle: FuseHandle
  public let destinationOffset: Int64
  public let length: Int
  public let flags: Int32
}
