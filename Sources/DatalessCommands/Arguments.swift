public import ArgumentParser
import DatalessControl
import DatalessCore

/// Command-line arguments are bytes, the argument parser only takes Strings: a reversible mapping between the two.
///
/// Valid UTF-8 is itself. A byte that is not part of any becomes the scalar U+10FF00 + byte, in a private plane that no
/// file name in use has; the UTF-8 of such a scalar is mapped byte by byte, so that decoding is always exact.
public enum ArgumentBytes {
  private static let base: UInt32 = 0x10ff00
  private static let escapes: ClosedRange<UInt32> = (base + 0x80)...(base + 0xff)

  /// The String that stands for the bytes.
  public static func encode(_ bytes: [UInt8]) -> String {
    var scalars = String.UnicodeScalarView()
    for element in UTF8Elements(bytes) {
      switch element {
      case .scalar(let scalar) where !escapes.contains(scalar.value): scalars.append(scalar)
      case .scalar(let scalar): for byte in UTF8.encode(scalar)! { scalars.append(escape(byte)) }
      case .byte(let byte): scalars.append(escape(byte))
      }
    }
    return String(scalars)
  }

  /// The bytes that a String made by `encode` stands for; any other String is its UTF-8.
  public static func decode(_ text: some StringProtocol) -> [UInt8] {
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      if escapes.contains(scalar.value) {
        bytes.append(UInt8(scalar.value - base))
      } else {
        bytes += UTF8.encode(scalar)!
      }
    }
    return bytes
  }

  private static func escape(_ byte: UInt8) -> Unicode.Scalar { Unicode.Scalar(base + UInt32(byte))! }
}

/// A command-line argument that may hold any bytes but NUL: a path, or a word of a command to run.
public struct PathArgument: ExpressibleByArgument, Sendable, Equatable {
  public var bytes: [UInt8]

  public init(bytes: [UInt8]) { self.bytes = bytes }

  /// nil for an empty argument, which is never a path.
  public init?(argument: String) {
    guard !argument.isEmpty else { return nil }
    bytes = ArgumentBytes.decode(argument)
  }

  /// Escaped for a terminal.
  public var description: String { TerminalText.escaped(bytes) }
}

/// Numbers below 0 that follow an option. The parser takes `-1` for an option of its own, and the value before it for
/// missing; no command has an option that begins with a digit. Joined as `--max-files=-1` it is a value, and the option
/// itself says what is wrong with it.
enum NegativeNumbers {
  /// - Returns: The arguments, of which each such number is joined with its option. What a command is given to run,
  ///   after `--`, is left as it is.
  static func joined(_ arguments: [String]) -> [String] {
    let own = arguments.prefix { $0 != "--" }
    var result: [String] = []
    for argument in own {
      if let option = result.last, option.hasPrefix("--"), !option.contains("="), isNegative(argument) {
        result[result.count - 1] = option + "=" + argument
      } else {
        result.append(argument)
      }
    }
    return result + arguments[own.endIndex...]
  }

  /// The number below 0 that an argument is, or that was joined with its option; nil for none.
  static func number(in argument: String) -> String? {
    let value = argument.hasPrefix("--") ? argument.drop { $0 != "=" }.dropFirst() : argument[...]
    return isNegative(value) ? String(value) : nil
  }

  private static func isNegative(_ text: some StringProtocol) -> Bool {
    guard text.utf8.first == UInt8(ascii: "-"), let second = text.utf8.dropFirst().first else { return false }
    return second == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(second)
  }
}

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
          + "(EINVAL). Write '\(TerminalText.escaped(rest))'; or leave the slash at the front out, if the volume itself has such a "
          + "path.", status: .usage)
    }
  }
}
