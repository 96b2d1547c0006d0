import ArgumentParser
import DatalessControl
import DatalessCore

/// Globs on the command line: of the same kind as those of scenarios.
enum GlobOption {
  static func parse(_ text: String) throws -> PathPattern {
    let bytes = ArgumentBytes.decode(text)
    do throws(PathPatternFlaw) {
      return try PathPattern(parsing: bytes)
    } catch {
      let part = error.alternative.map { "of it, '\(TerminalText.escaped($0))': " } ?? ""
      throw ValidationError("malformed glob '\(TerminalText.escaped(bytes))': \(part)\(error.words) (EINVAL).")
    }
  }

  /// Refuses a glob that begins with the mountpoint: it could match nothing, because paths begin at the volume's root.
  ///
  /// - Parameters:
  ///   - option: As it was given, for the message.
  ///   - argument: What was given for the mountpoint, which may be a symbolic link to it.
  static func check(_ pattern: PathPattern, option: String, on volume: MountEntry, argument: PathArgument) throws {
    for root in [volume.mountPoint, argument.bytes] where root.first == UInt8(ascii: "/") {
      guard let rest = pattern.beyond(root) else { continue }
      throw CommandFailure(
        "\(option) '\(TerminalText.escaped(pattern.text))' begins with the mountpoint, but paths begin at the volume's root "
          + "(EINVAL). Write '\(TerminalText.escaped(rest))'.", status: .usage)
    }
  }
}
