/// What a caller has asked for beforehand: whether its reads may materialize (docs/POLICY.md). true is ON, false is
/// OFF, nil is not set.
public struct CallerPolicy: Sendable, Hashable {
  /// Of the calling thread; it goes before its process' policy.
  public var thread: Bool?
  /// Of its process, inherited from whoever started it.
  public var process: Bool?

  public init(thread: Bool?, process: Bool?) {
    self.thread = thread
    self.process = process
  }

  /// Nobody asked for anything: the volume decides.
  public static let unset = CallerPolicy(thread: nil, process: nil)
}
