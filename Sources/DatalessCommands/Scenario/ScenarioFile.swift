import DatalessControl
import DatalessCore
import DatalessScenario
import Glibc
import SystemPackage

/// Reads a scenario of the user: a file, or standard input.
enum ScenarioFile {
  /// - Parameter path: `-` for standard input. Logs that the scenario replays are named relative to its folder.
  /// - Throws: `CommandFailure` with status 2 for everything that is wrong in it, else 1.
  static func read(_ path: PathArgument) throws -> ScenarioDocument {
    let isInput = path.bytes == [UInt8(ascii: "-")]
    // One more than is allowed, for the reader to say what the limit is.
    let limit = ScenarioLimits.bytes + 1
    let text =
      isInput
      ? try FileBytes.read(descriptor: STDIN_FILENO, named: "standard input", limit: limit)
      : try FileBytes.read(path.bytes, limit: limit)
    let folder = isInput ? [] : Self.folder(of: path.bytes)
    return try checked { () throws(ScenarioError) in
      try ScenarioDocument(parsing: text, name: path.description, readFile: reader(in: folder))
    }
  }

  /// Reads the files that a scenario names, those that are not absolute from a folder on.
  static func reader(in folder: [UInt8]) -> ScenarioFileReader {
    { (name) throws(FSError) in
      let path = folder.isEmpty || name.hasPrefix("/") ? Array(name.utf8) : PathBytes.join(folder, Array(name.utf8))
      do throws(ControlError) {
        return try FileBytes.read(path, limit: 1 << 30)
      } catch {
        throw FSError(error.errno ?? .ioError, error.errno?.description ?? error.message)
      }
    }
  }

  static func checked<Value>(_ body: () throws(ScenarioError) -> Value) throws -> Value {
    do throws(ScenarioError) {
      return try body()
    } catch {
      throw CommandFailure(error)
    }
  }

  /// Says what is worth a look, on standard error.
  static func say(_ warnings: [ScenarioWarning]) {
    for warning in warnings {
      Console.warning(
        file: warning.file, line: Int64(warning.line), column: Int64(warning.column), warning.message)
    }
  }

  private static func folder(of path: [UInt8]) -> [UInt8] {
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return [] }
    return slash == 0 ? [UInt8(ascii: "/")] : Array(path[..<slash])
  }
}
