import FoundationEssentials
import Glibc

/// Content of a file that is made for a test.
public enum FileContent: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  /// UTF-8.
  case text(String)
  /// Any bytes.
  case bytes([UInt8])
  /// So many bytes of text, 0 or more: a hole would be read as zeros.
  case size(Int)

  /// Text.
  public init(stringLiteral value: String) { self = .text(value) }
  /// A size.
  public init(integerLiteral value: Int) { self = .size(value) }

  var data: Data {
    switch self {
    case .text(let text): Data(text.utf8)
    case .bytes(let bytes): Data(bytes)
    case .size(let size):
      Data(Array(repeating: Array("dataless\n".utf8), count: max(0, size) / 9 + 1).joined().prefix(max(0, size)))
    }
  }
}

/// What a volume presents.
public enum VolumeSource: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// Files made for the test: content by path, relative to the volume's root. A path with `/` at its end is a folder.
  case files([String: FileContent])
  /// A folder that is there; nothing is written to it.
  case folder(String)
  /// Generated: `files=1000,depth=3` (see `dataless mount --help`).
  case synthetic(String)

  /// Files made for the test.
  public init(dictionaryLiteral elements: (String, FileContent)...) {
    self = .files(Dictionary(elements) { _, last in last })
  }

  /// The argument SOURCE of `dataless mount`; makes the files in `folder`, which is not there yet.
  func prepare(in folder: String) throws -> String {
    switch self {
    case .folder(let path): return path
    case .synthetic(let words): return words.hasPrefix("synthetic:") ? words : "synthetic:" + words
    case .files(let files):
      try makeDirectory(folder, mode: 0o755)
      for (name, content) in files.sorted(by: { $0.key < $1.key }) { try Self.make(name, content, in: folder) }
      return folder
    }
  }

  private static func make(_ name: String, _ content: FileContent, in folder: String) throws {
    let parts = name.split(separator: "/")
    guard !name.hasPrefix("/"), !parts.isEmpty, !parts.contains(".."), !name.utf8.contains(0) else {
      throw DatalessError(
        "the file '\(name)' does not lie in the source. Give a relative path without '..'.", code: "usage")
    }
    var path = folder
    for part in name.hasSuffix("/") ? parts[...] : parts.dropLast() {
      path += "/\(part)"
      if mkdir(path, 0o755) != 0 && errno != EEXIST { throw failure("mkdir", path) }
    }
    guard !name.hasSuffix("/"), let last = parts.last else { return }
    do { try content.data.write(to: URL(filePath: path + "/\(last)")) } catch {
      throw DatalessError("the file '\(name)' of the source cannot be written: \(error).")
    }
  }
}

func makeDirectory(_ path: String, mode: mode_t = 0o700) throws {
  if mkdir(path, mode) != 0 { throw failure("mkdir", path) }
}

/// The error of a system call that has just failed.
func failure(_ call: String, _ path: String) -> DatalessError {
  let number = errno
  return DatalessError("\(call) \(path): \(String(cString: strerror(number))).")
}
