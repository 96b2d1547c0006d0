import DatalessControl
import DatalessCore
import Glibc

/// Globs of expectations against SOURCE: what begins with its path, or a folder that is not there, can match nothing.
enum ExpectedPaths {
  /// Refuses globs of options that begin with a path of the machine: paths begin at the volume's root. Those of a
  /// scenario are checked with its rules.
  ///
  /// - Parameter roots: SOURCE and the mountpoint, absolute, each by what messages call it.
  static func check(_ options: ExpectationOptions, roots: [(name: String, path: [UInt8])]) throws {
    for (option, globs) in [("--forbid", options.forbid), ("--allow", options.allow)] {
      for glob in globs {
        guard let (name, rest) = roots.lazy.compactMap({ root in glob.beyond(root.path).map { (root.name, $0) } }).first
        else { continue }
        let inside = TerminalText.escaped(Array(glob.text.drop { $0 == UInt8(ascii: "/") }))
        throw CommandFailure(
          "\(option) '\(TerminalText.escaped(glob.text))' begins with \(name), but paths begin at the volume's root "
            + "(EINVAL). Write '\(TerminalText.escaped(rest))'; or '\(inside)', if the volume itself has such a path.",
          status: .usage)
      }
    }
  }

  /// SOURCE as it was given, and as it is.
  ///
  /// - Parameter source: nil for one that is computed.
  static func roots(of source: [UInt8]?) -> [(name: String, path: [UInt8])] {
    guard let source else { return [] }
    let real = realpath((source + [0]).map { CChar(bitPattern: $0) }, nil)
    defer { free(real) }
    let given = PathBytes.absolute(source, from: RunCommand.workingDirectory ?? [])
    let paths = [given] + (real.map { [Array(UnsafeRawBufferPointer(start: $0, count: strlen($0)))] } ?? [])
    return paths.filter { $0.first == UInt8(ascii: "/") }.map { ("SOURCE", $0) }
  }

  /// - Returns: A sentence for each glob that can match nothing.
  static func warnings(_ expectations: [Expectation], _ source: [UInt8]?) -> [String] {
    guard let root = source else { return [] }
    let globs = expectations.flatMap { expectation in
      (expectation.match.paths + (expectation.measure == .forbid ? expectation.paths : [])).map {
        (expectation.name, $0)
      }
    }
    let names = globs.isEmpty || globs.count > RulePaths.rulesMax ? nil : SourceNames(below: root)
    return globs.compactMap { name, glob in
      let text = TerminalText.escaped(glob.text)
      if isNowhere(glob, below: root) {
        return "\(name): nothing can match '\(text)': SOURCE has no such path. Check it."
      }
      // What is forbidden may well be absent for now.
      guard let names else { return nil }
      let matching = names.paths.filter { glob.matches($0) }
      guard !matching.isEmpty else { return "\(name): nothing in SOURCE matches '\(text)' now. Check it." }
      guard matching.allSatisfy({ names.neverDataless.contains($0) }) else { return nil }
      return "\(name): what '\(text)' matches in SOURCE now is never materialized, as symbolic links, special and "
        + "empty files are not: where a link leads has a path of its own. Check it."
    }
  }

  private static func isNowhere(_ glob: PathPattern, below root: [UInt8]) -> Bool {
    glob.literalPrefixes.allSatisfy { prefix in
      guard let prefix else { return false }
      var status = stat()
      let path = (PathBytes.join(root, prefix) + [0]).map { CChar(bitPattern: $0) }
      let result = lstat(path, &status)
      return result != 0 && (errno == ENOENT || errno == ENOTDIR)
    }
  }
}
