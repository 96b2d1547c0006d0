import DatalessControl

/// A file that an option names.
struct NamedFile {
  /// As it is given, such as `--json`.
  let option: String
  /// For messages, escaped.
  let name: String
  /// Whether it is written to. What is only read may be named twice.
  let isWritten: Bool
  private let identity: FileIdentity?

  init(_ option: String, _ path: [UInt8], isWritten: Bool) {
    (self.option, self.isWritten) = (option, isWritten)
    name = "'\(TerminalText.escaped(path))'"
    identity = FileIdentity(path)
  }

  /// What the caller has opened for us.
  init(_ option: String, descriptor: CInt) {
    (self.option, name, isWritten) = (option, "descriptor \(descriptor)", true)
    identity = FileIdentity(descriptor: descriptor)
  }

  /// The first two options that name one file, to which one of them writes.
  ///
  /// - Returns: The later one and the earlier one; nil where each has a file of its own.
  static func conflict(in files: [NamedFile]) -> Conflict? {
    for (index, file) in files.enumerated() {
      guard let identity = file.identity else { continue }
      let earlier = files[..<index].first { $0.identity == identity && ($0.isWritten || file.isWritten) }
      if let earlier { return Conflict(first: earlier, second: file) }
    }
    return nil
  }

  struct Conflict {
    let first: NamedFile
    let second: NamedFile

    func concerns(_ option: String) -> Bool { first.option == option || second.option == option }

    func failure(status: ExitStatus) -> CommandFailure {
      let names = first.name == second.name ? first.name : "\(first.name) and \(second.name), which are one file,"
      return CommandFailure(
        "cannot use \(names) for \(first.option) and \(second.option): one would destroy the other (EINVAL). "
          + "Name a file for each.", status: status, code: .usage)
    }
  }
}
