internal import CDataless
internal import Glibc
internal import Synchronization

/// What is to be read and written on a volume, asked for at once (docs/COORDINATION.md). It is given back by `end()`,
/// or when the last reference goes.
///
/// No thread waits: a `DispatchSource` looks at the descriptor.
public final class AccessIntent: Sendable {
  /// What becomes of it.
  public enum State: Sendable, Equatable {
    /// It may proceed, until `end()`.
    case granted(Grant)
    /// It is refused, or was taken away: what is done from now on is coordinated with nobody.
    case ended(CoordinationError)
  }

  /// It is granted.
  public struct Grant: Sendable, Equatable {
    /// Its number in the volume's log.
    public let intent: UInt64
    /// How long it waited for others.
    public let waited: Duration
    /// Files and listings that were made local for it.
    public let materialized: Int64
    /// That of its volume, where it is known: the number means something else on another one.
    let daemon: VolumeDaemon?
  }

  /// Readable when there is an answer, and again when it is taken away: for an event loop of one's own, which then asks
  /// `look()`.
  public let descriptor: Int32
  /// Held by whoever looks: after `end()` the descriptor's number may be another intent's, whose answer would be taken.
  private let hasEnded = Mutex(false)

  /// Asks.
  ///
  /// - Parameters:
  ///   - reading: Paths, relative to the working directory or absolute.
  ///   - writing: The same.
  ///   - outer: A granted intent of this process that is not given back before this one is answered. It keeps this one
  ///     from nothing, and a deadlock of the two is found.
  /// - Throws: ENODATA: not on a volume. EXDEV: on several. EACCES: neither the volume's user nor root. ENOTCONN: its
  ///   daemon does not run. EAGAIN: 4,096 asked before it and were not heard for 2 s, for which it waits then. ESRCH:
  ///   `outer` is one of another volume, or of news that is about no intent.
  public init(
    reading: [String] = [], writing: [String] = [], options: AccessOptions = [], within outer: Grant? = nil
  ) throws(CoordinationError) {
    // It would be asked for within nothing.
    guard outer?.intent != 0 else { throw .outerNotHeld("there is no intent that it could be within") }
    let paths = reading.map { ($0, Int32(0)) } + writing.map { ($0, Int32(1)) }
    let texts = paths.map { strdup($0.0) }
    defer { for text in texts { free(text) } }
    let claims = zip(texts, paths).map { dataless_claim(path: $0.map { UnsafePointer($0) }, writes: $1.1) }
    descriptor = dataless_coordinate_start(claims, claims.count, options.rawValue, outer?.intent ?? 0)
    let number = errno
    guard descriptor >= 0 else { throw .notAsked("cannot ask for \(paths.first?.0 ?? "no paths")", errno: number) }
    guard let volume = outer?.daemon, let own = VolumeDaemon(of: descriptor), own != volume else { return }
    try? end()
    throw .outerNotHeld("the intent it was to be within is one of another volume")
  }

  deinit { try? end() }

  /// What there is to be told now; nil: nothing, also after `end()`. Never waits.
  public func look() -> State? { hasEnded.withLock { $0 ? nil : lookAtDescriptor() } }

  private func lookAtDescriptor() -> State? {
    var answer = dataless_coordination()
    guard dataless_coordinate_result(descriptor, &answer) != 0 else {
      return .granted(
        Grant(
          intent: answer.intent, waited: .nanoseconds(answer.waited_ns), materialized: answer.materialized,
          daemon: VolumeDaemon(of: descriptor)))
    }
    let number = errno
    guard number != EAGAIN else { return nil }
    let message = withUnsafeBytes(of: &answer.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return .ended(
      CoordinationError(
        name: String(cString: dataless_coordination_name(answer.code)), errno: number, message: message))
  }

  /// What becomes of it, as it does: granted, and ended, if somebody else ends it. Ends with `end()`. For one reader.
  public var states: AsyncStream<State> {
    AsyncStream { continuation in
      DescriptorSource.watch(descriptor, continuation) { [weak self] in
        guard let self else { return false }
        while let state = look() {
          continuation.yield(state)
          if case .ended = state { return false }
        }
        return !hasEnded.withLock { $0 }
      }
    }
  }

  /// Waits until it may proceed. - Throws: `CoordinationError`, or `CancellationError` and the intent is given up.
  public func granted() async throws -> Grant {
    for await state in states {
      switch state {
      case .granted(let grant): return grant
      case .ended(let error): throw error
      }
    }
    try? end()
    throw CancellationError()
  }

  /// Gives it back, or gives it up; also copies of its descriptor in children. Calling it again does nothing.
  ///
  /// - Throws: If it was refused, or taken away, before.
  public func end() throws(CoordinationError) {
    let (isFirst, last): (Bool, CoordinationError?) = hasEnded.withLock { hasEnded in
      guard !hasEnded else { return (false, nil) }
      hasEnded = true
      // By its name: the end of an intent says the errno alone.
      return (true, lastError())
    }
    guard isFirst else { return }
    guard dataless_coordinate_end(descriptor) != 0 else { return }
    let number = errno
    if let last { throw last }
    throw CoordinationError(
      name: String(
        cString: dataless_coordination_name(
          number == ETIMEDOUT ? DATALESS_COORDINATION_VOLUME_ENDED : DATALESS_COORDINATION_TAKEN_AWAY)),
      errno: number, message: "the intent had been taken away before it was given back")
  }

  private func lastError() -> CoordinationError? {
    while let state = lookAtDescriptor() { if case .ended(let error) = state { return error } }
    return nil
  }
}

/// Does something under an intent, and gives it back.
///
/// - Throws: `CoordinationError`, also when the intent was taken away meanwhile; what `body` throws.
public func withAccess<Result: Sendable>(
  reading: [String] = [], writing: [String] = [], options: AccessOptions = [], within outer: AccessIntent.Grant? = nil,
  _ body: (AccessIntent.Grant) async throws -> Result
) async throws -> Result {
  let intent = try AccessIntent(reading: reading, writing: writing, options: options, within: outer)
  let grant = try await intent.granted()
  let result = try await body(grant)
  try intent.end()
  return result
}
