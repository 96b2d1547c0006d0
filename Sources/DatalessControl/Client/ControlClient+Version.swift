import SystemPackage

/// Daemons of other versions than this program's.
extension ControlClient {
  /// What the daemon is, and what it can.
  ///
  /// - Throws: `ControlError.Code.otherVersion` when it is too old to say so.
  public func version() async throws -> VersionAnswer { try await call(.version) }

  /// How an answer says that a daemon does not know what this program asks for. Daemons that could not say their
  /// version said these words already, so they do not change.
  static func isOfAnotherVersion(_ error: WireError, status: UInt) -> Bool {
    switch (status, error.code) {
    // An item that is not there has an errno.
    case (404, "not_found"): error.errno == nil && error.message.hasPrefix("there is no /")
    case (405, "method_not_allowed"): true
    case (400, "invalid_request"):
      error.message.contains("` is no key of it") || error.message.contains("` is no parameter of ")
    default: false
    }
  }

  /// What to say of such an answer. - Parameter answer: nil: what came could not be understood.
  func otherVersion(_ route: ControlRoute, _ answer: WireError?, problem: String) async -> ControlError {
    let daemon = route == .version ? nil : try? await version().version
    return Self.otherVersion(route, answer, problem: problem, daemon: daemon, mountPoint: mountPoint)
  }

  static func otherVersion(
    _ route: ControlRoute, _ answer: WireError?, problem: String, daemon: String?, mountPoint: [UInt8]
  ) -> ControlError {
    let name = TerminalText.escaped(mountPoint)
    let which =
      switch daemon {
      case nil: "is older than this program, \(Version.current), and cannot say its version"
      case Version.current?: "has this program's version, \(Version.current), but not its build"
      case let version?:
        "has version \(TerminalText.escaped(String(version.prefix(40)))), and this program \(Version.current)"
      }
    var words = TerminalText.harmless(problem)
    if words.hasSuffix(".") { words.removeLast() }
    return ControlError(
      code: .otherVersion, errno: .notSupported,
      message: "cannot \(route.rawValue): the daemon of \(name) \(which): \(words) (EOPNOTSUPP). "
        + "Use the program that has mounted the volume, or unmount it and mount it with this one.",
      answer: answer)
  }
}
