import DatalessControl
import DatalessCore

/// One call to the daemon of a volume, whose refusals become a sentence.
enum RemoteCall {
  /// - Parameter what: `cannot release gate 'x' of /mnt`: what stands before the daemon's own words.
  /// - Throws: `CommandFailure`; `ControlError` where nobody answered.
  static func run<Answer: Sendable>(
    _ mountpoint: PathArgument, _ what: String, timeout: Duration = ControlClient.defaultTimeout,
    _ body: @escaping @Sendable (ControlClient) async throws -> Answer
  ) throws -> Answer {
    try run(try VolumeLocator.volume(mountpoint.bytes), what, timeout: timeout, body)
  }

  static func run<Answer: Sendable>(
    _ volume: MountEntry, _ what: String, timeout: Duration = ControlClient.defaultTimeout,
    onStart: (Task<Void, Never>) -> Void = { _ in },
    _ body: @escaping @Sendable (ControlClient) async throws -> Answer
  ) throws -> Answer {
    do {
      return try Blocking.run(onStart: onStart) {
        try await ControlClient.with(volume: volume, timeout: timeout, body)
      }
    } catch let error as ControlError where error.code == .remote {
      let errno = error.errno.map { error.message.contains($0.name) ? "" : " (\($0.name))" } ?? ""
      throw CommandFailure(
        "\(what): \(TerminalText.escaped(error.message))\(errno).", code: CommandFailure.code(of: error),
        errno: error.errno)
    }
  }
}
