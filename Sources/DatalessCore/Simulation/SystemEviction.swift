/// When the system makes a resident file dataless by itself, as macOS does whenever it sees fit. At least one of them
/// is given.
public struct SystemEviction: Sendable, Equatable {
  /// So long after the last close, or after its materialization if nobody had it open; in nanoseconds, 0 or more.
  public var idle: Nanoseconds?
  /// So long after its materialization; in nanoseconds, 0 or more. A file that is open then is evicted when it is
  /// closed.
  public var afterMaterialization: Nanoseconds?
  /// By the next open, before that is answered, so that its first read waits. Only where no other handle is open.
  public var beforeFirstRead: Bool

  public init(idle: Nanoseconds? = nil, afterMaterialization: Nanoseconds? = nil, beforeFirstRead: Bool = false) {
    self.idle = idle
    self.afterMaterialization = afterMaterialization
    self.beforeFirstRead = beforeFirstRead
  }
}
