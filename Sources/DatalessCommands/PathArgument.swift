public import ArgumentParser
import DatalessControl

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
