public import DatalessControl
import SystemPackage

/// The languages that reports are written in.
public enum ReportKind: String, Sendable, CaseIterable {
  case junit, html, markdown, json, trace, collapsed
}

/// One report that is asked for, and where it goes.
public struct ReportRequest: Sendable, Equatable {
  public var kind: ReportKind
  /// `-` for standard output.
  public var path: [UInt8]

  public var isStandardOutput: Bool { path == [UInt8(ascii: "-")] }

  public init(kind: ReportKind, path: [UInt8]) { (self.kind, self.path) = (kind, path) }

  /// Why a text is no request, as the rest of a sentence.
  public struct Flaw: Error, Equatable { public var words: String }

  /// Reads `KIND=FILE`.
  public init(parsing text: [UInt8]) throws(Flaw) {
    let kinds = ReportKind.allCases.map(\.rawValue).joined(separator: ", ")
    guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else {
      throw Flaw(words: "expected KIND=FILE, with one of \(kinds)")
    }
    guard let kind = ReportKind(rawValue: String(decoding: text[..<equals], as: UTF8.self)) else {
      throw Flaw(words: "there is no such kind: expected one of \(kinds)")
    }
    path = Array(text[(equals + 1)...])
    self.kind = kind
    guard !path.isEmpty else { throw Flaw(words: "the file is missing after =") }
  }

  /// Finds out, before anything else is done, whether all of them can be written, each to a place of its own.
  ///
  /// - Parameter log: What is read, which must not be written over; nil when it is not there yet.
  /// - Throws: `ControlError.system` with the errno; EEXIST for two of one file, EINVAL for the log itself.
  public static func check(_ requests: [ReportRequest], log: [UInt8]?) throws(ControlError) {
    let log = log.flatMap { FileIdentity($0) }
    var seen: [FileIdentity] = []
    for request in requests {
      let name = "'\(TerminalText.escaped(request.path))'"
      if let identity = FileIdentity(request.path) {
        if log == identity {
          throw .system(
            .invalidArgument, "cannot write a report to \(name), which is the log", remedy: "Name another file.")
        }
        if seen.contains(identity) {
          throw .system(.fileExists, "cannot write two reports to \(name)", remedy: "Name a file for each.")
        }
        seen.append(identity)
      }
      try ReportFile.check(request.path)
    }
  }
}
