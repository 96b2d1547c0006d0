import DatalessCore

/// What a tool may materialize, as a file to commit: a line for each path, sorted. Paths of temporary files are
/// normalized, since their names are others in each run.
public struct Baseline: Sendable {
  /// The first line: a file without it is none of ours.
  static let header = "dataless baseline 1"
  /// LIMIT: of the file: some 500,000 paths.
  public static let bytesMax = 64 << 20

  /// Why a file is no baseline.
  public struct Flaw: Error, Sendable, Equatable {
    /// From 1; nil for the whole of it.
    public var line: Int?
    /// What is wrong and what to do.
    public var message: String
  }

  /// A kind and a normalized path.
  struct Entry: Sendable, Hashable, Comparable {
    var path: [UInt8]
    var isDirectory: Bool

    /// By the bytes of the path, so that the order is the same everywhere.
    static func < (one: Entry, other: Entry) -> Bool {
      if one.path == other.path { return one.isDirectory && !other.isDirectory }
      return one.path.lexicographicallyPrecedes(other.path)
    }
  }

  /// What messages call the file.
  public let file: String
  /// Whether what is materialized becomes the baseline, instead of being held against it.
  public let isUpdate: Bool
  private let entries: Set<Entry>
  private var seen: Set<Entry> = []

  /// A baseline that allows nothing yet.
  public init(empty file: String, isUpdate: Bool) {
    self.file = file
    self.isUpdate = isUpdate
    entries = []
  }

  public init(parsing bytes: [UInt8], file: String, isUpdate: Bool) throws(Flaw) {
    self.file = file
    self.isUpdate = isUpdate
    entries = try BaselineText.read(bytes)
  }

  /// The same before anything was materialized.
  var untouched: Baseline {
    var copy = self
    copy.seen = []
    return copy
  }

  /// Something was materialized.
  ///
  /// - Parameter names: All paths of a file that has several, as far as they are known: it is one file by each of them.
  /// - Returns: Whether it may be.
  mutating func touch(_ kind: MaterializationKind, _ path: [UInt8], names: [[UInt8]] = []) -> Bool {
    let all = ([path] + names).map { Entry(path: TemporaryName.normalized($0), isDirectory: kind == .directory) }
    let known = isUpdate ? all : all.filter(entries.contains)
    seen.formUnion(known.isEmpty ? [all[0]] : known)
    return !known.isEmpty
  }

  /// - Parameter isComplete: Whether the log tells all: else nobody knows what was not touched.
  func result(isComplete: Bool) -> BaselineResult {
    var result = BaselineResult(file: file)
    result.entryCount = Int64(entries.count)
    result.newCount = Int64(seen.count { !entries.contains($0) })
    guard isComplete else { return result }
    let untouched = entries.subtracting(seen).sorted()
    result.untouchedCount = Int64(untouched.count)
    result.untouched = untouched.prefix(Violation.listedMax).map { entry in
      BaselineResult.Entry(kind: entry.isDirectory ? "directory" : "file", path: entry.path)
    }
    return result
  }

  /// The file of what was materialized.
  public var text: [UInt8] { BaselineText.write(seen.sorted()) }
}

/// How a baseline is written.
enum BaselineText {
  private static let newline = UInt8(ascii: "\n")
  private static let quote = UInt8(ascii: "\"")
  private static let backslash = UInt8(ascii: "\\")

  static func write(_ entries: [Baseline.Entry]) -> [UInt8] {
    var text = Array("\(Baseline.header)\n".utf8)
    text +=
      "# What may be materialized, a line for each path. Made by --update-baseline: review it and commit it.\n".utf8
    for entry in entries {
      text += (entry.isDirectory ? "directory " : "file ").utf8
      text += entry.path.isEmpty ? [UInt8(ascii: ".")] : written(entry.path)
      text.append(newline)
    }
    return text
  }

  static func read(_ bytes: [UInt8]) throws(Baseline.Flaw) -> Set<Baseline.Entry> {
    let anew = "remove the file and run once with --update-baseline."
    guard bytes.count <= Baseline.bytesMax else {
      throw Baseline.Flaw(message: "it is larger than \(Baseline.bytesMax >> 20) MiB. To have a new one, \(anew)")
    }
    let lines = bytes.split(separator: newline, omittingEmptySubsequences: false).map { line in
      line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
    let first = lines.first ?? []
    guard first.elementsEqual(Baseline.header.utf8) else {
      let isOther = first.starts(with: "dataless baseline ".utf8)
      throw Baseline.Flaw(
        line: 1,
        message: isOther
          ? "it is a baseline of another format: this program reads '\(Baseline.header)'. Use the program that wrote it, or \(anew)"
          : "it is no baseline: the first line of one is '\(Baseline.header)'. Name another file, or \(anew)")
    }
    var entries: Set<Baseline.Entry> = []
    for (index, line) in lines.enumerated().dropFirst() where !line.isEmpty && line.first != UInt8(ascii: "#") {
      guard let entry = entry(line) else {
        throw Baseline.Flaw(
          line: index + 1,
          message: "expected 'file PATH' or 'directory PATH'. Correct the line, or \(anew)")
      }
      if entry.path.first == UInt8(ascii: "/") {
        throw Baseline.Flaw(
          line: index + 1,
          message: "the path begins with a slash, but paths begin at the volume's root: nothing on a "
            + "volume is called so. Write it without what leads to that root, or \(anew)")
      }
      entries.insert(entry)
    }
    return entries
  }

  private static func entry(_ line: ArraySlice<UInt8>) -> Baseline.Entry? {
    guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
    let kind = line[..<space]
    let isDirectory = kind.elementsEqual("directory".utf8)
    guard isDirectory || kind.elementsEqual("file".utf8), let path = path(line[(space + 1)...]) else { return nil }
    return Baseline.Entry(path: path, isDirectory: isDirectory)
  }

  /// In quotes where the bytes alone would not tell: control characters, what is not UTF-8, blanks at an end.
  private static func written(_ path: [UInt8]) -> [UInt8] {
    let escaped = TerminalText.escaped(path)
    let space = UInt8(ascii: " ")
    if escaped.utf8.elementsEqual(path), path.first != quote, path.first != space, path.last != space, path != [0x2e] {
      return path
    }
    var text: [UInt8] = [quote]
    for element in UTF8Elements(path) {
      switch element {
      case .byte(let byte): text += hexadecimal(byte)
      case .scalar(let scalar):
        let bytes = Array(String(Character(scalar)).utf8)
        if bytes == [quote] || bytes == [backslash] {
          text += [backslash] + bytes
        } else if TerminalText.escaped(bytes).utf8.elementsEqual(bytes) {
          text += bytes
        } else {
          for byte in bytes { text += hexadecimal(byte) }
        }
      }
    }
    return text + [quote]
  }

  private static func hexadecimal(_ byte: UInt8) -> [UInt8] {
    Array("\\x\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
  }

  /// nil for what `written` does not write.
  private static func path(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    if text.elementsEqual(".".utf8) { return [] }
    guard text.first == quote else { return text.isEmpty ? nil : Array(text) }
    guard text.count >= 2, text.last == quote else { return nil }
    var path: [UInt8] = []
    var rest = text.dropFirst().dropLast()
    while let byte = rest.popFirst() {
      guard byte == backslash else {
        if byte == quote { return nil }
        path.append(byte)
        continue
      }
      switch rest.popFirst() {
      case quote: path.append(quote)
      case backslash: path.append(backslash)
      case UInt8(ascii: "x"):
        let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 2 else { return nil }
        path.append(UInt8(digits[0] << 4 | digits[1]))
        rest = rest.dropFirst(2)
      default: return nil
      }
    }
    return path.isEmpty ? nil : path
  }
}
