/// What a caller has set for itself, as `setiopolicy_np` does on macOS: true may materialize, false may not, nil says nothing.
public struct CallerPolicy: Sendable, Hashable {
  /// For the calling thread alone.
  public var thread: Bool?
  /// For its process, inherited through fork and exec.
  public var process: Bool?

  public init(thread: Bool?, process: Bool?) {
    self.thread = thread
    self.process = process
  }

  public static let unset = CallerPolicy(thread: nil, process: nil)
}
