internal import CDatalessLinux
import DatalessControl
import Glibc

/// The directory below which GitHub shows places of files: $GITHUB_WORKSPACE.
///
/// Paths of sources are what debug information of a caller says, which may be anything. They are looked up without
/// content being read, below the workspace alone, and no lookup goes into what is mounted there: it might block.
struct Workspace: Sendable {
  /// Absolute, without a slash at its end; empty where there is none.
  private let directory: [UInt8]
  /// Where names of sources are relative to, below the workspace: empty for the workspace itself, nil where nobody
  /// knows, or it is elsewhere.
  private let working: [UInt8]?

  /// - Parameters:
  ///   - directory: Absolute, without a slash at its end; empty where there is none.
  ///   - working: In which directory the program was started that the sources are of, absolute, as getcwd(3) says it.
  ///     Default: nobody knows.
  init(_ directory: String, working: [UInt8]? = nil) {
    let directory = Array(directory.utf8)
    self.directory = directory
    self.working = working.flatMap { working -> [UInt8]? in
      if working == directory { return [] }
      if let name = Self.name(of: working, below: directory) { return name }
      // The variable may name a link.
      guard let real = Self.resolved(directory) else { return nil }
      return working == real ? [] : Self.name(of: working, below: real)
    }
  }

  /// The name of a source below the workspace, relative to it.
  ///
  /// - Parameter path: Absolute, a `file:` URL, or relative: then it has to be that of a file in the directory where
  ///   the program was started. As it may be relative to that of a build as well, it is none where the workspace has
  ///   another file of this name. One that goes up on its way, as those of builds in a directory do, has to be there,
  ///   too.
  /// - Returns: nil for one that is elsewhere.
  func name(of path: [UInt8]) -> String? {
    guard !directory.isEmpty, !path.contains(0) else { return nil }
    let path = Self.path(ofURL: path) ?? path
    guard path.first == UInt8(ascii: "/") else {
      let parts = PathBytes.components(path)
      guard let working, !parts.isEmpty, !parts.contains(Array("..".utf8)) else { return nil }
      let name = Array(PathBytes.absolute(parts).dropFirst())
      let place = PathBytes.join(working, name)
      guard let file = file(place) else { return nil }
      if let other = self.file(name), other != file { return nil }
      return Self.text(place)
    }
    guard let name = Self.name(of: PathBytes.absolute(path, from: []), below: directory) else { return nil }
    if PathBytes.components(path).contains(Array("..".utf8)), file(name) == nil { return nil }
    return Self.text(name)
  }

  private static func name(of path: [UInt8], below directory: [UInt8]) -> [UInt8]? {
    let start = PathBytes.absolute(directory, from: []) + Array("/".utf8)
    return path.starts(with: start) && path.count > start.count ? Array(path.dropFirst(start.count)) : nil
  }

  /// - Returns: nil for what is not there.
  private static func resolved(_ path: [UInt8]) -> [UInt8]? {
    let real = (path + [0]).map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { text in
      text.baseAddress.flatMap { realpath($0, nil) }
    }
    guard let real else { return nil }
    defer { free(real) }
    return Array(UnsafeRawBufferPointer(start: real, count: strlen(real)))
  }

  /// - Returns: nil for what is no regular file, or not there.
  private func file(_ name: [UInt8]) -> FileIdentity? {
    guard name.count < Int(PATH_MAX) else { return nil }
    let root = Self.open(directory, below: AT_FDCWD, resolve: 0, flags: CLINUX_O_DIRECTORY)
    guard root >= 0 else { return nil }
    defer { close(root) }
    // A descriptor of a path alone: a pipe does not block, and a file that is not here is not fetched.
    let resolve = CLINUX_RESOLVE_BENEATH | CLINUX_RESOLVE_NO_MAGICLINKS | CLINUX_RESOLVE_NO_XDEV
    let file = Self.open(name, below: root, resolve: resolve, flags: 0)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return FileIdentity(descriptor: file)
  }

  /// - Returns: A descriptor of a path alone, negative for none.
  private static func open(_ path: [UInt8], below directory: Int32, resolve: UInt64, flags: Int32) -> Int32 {
    let all = UInt64(UInt32(bitPattern: flags | CLINUX_O_PATH | CLINUX_O_CLOEXEC))
    let opened = (path + [0]).map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { text in
      text.baseAddress.map { clinux_openat2(directory, $0, all, 0, resolve) } ?? -1
    }
    return Int32(truncatingIfNeeded: opened)
  }

  /// nil for a name that GitHub could not be told, and one that a terminal would obey.
  private static func text(_ name: [UInt8]) -> String? {
    String(validating: name, as: UTF8.self).flatMap { text in
      text.unicodeScalars.contains { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) } ? nil : text
    }
  }

  /// The path of `file:///code/a%20b.mjs`, as node calls modules; nil for what is no such URL.
  private static func path(ofURL text: [UInt8]) -> [UInt8]? {
    let scheme = Array("file://".utf8)
    guard text.starts(with: scheme) else { return nil }
    var path: [UInt8] = []
    var rest = text.dropFirst(scheme.count)
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
      guard byte == UInt8(ascii: "%"), digits.count == 2 else {
        path.append(byte)
        continue
      }
      path.append(UInt8(digits[0] << 4 | digits[1]))
      rest = rest.dropFirst(2)
    }
    return path.contains(0) ? nil : path
  }
}
