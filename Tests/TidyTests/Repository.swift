import FoundationEssentials

/// The repository's own files, found from where this source file lies.
struct Repository {
  let root: String

  static let current: Repository = {
    let file = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    return Repository(root: file.dropLast(3).joined(separator: "/"))
  }()

  /// Files below a folder whose name ends in one of the extensions, relative to the root, sorted.
  func files(under folder: String, extensions: Set<String>) -> [String] {
    var found: [String] = []
    for path in (try? FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)/")) ?? [] {
      let last = path.split(separator: "/").last ?? ""
      guard !last.hasPrefix("."), let dot = last.lastIndex(of: ".") else { continue }
      if extensions.contains(String(last[last.index(after: dot)...])) { found.append(folder + "/" + path) }
    }
    return found.sorted()
  }

  /// Nil if there is no such file.
  func text(of path: String) -> String? {
    guard let data = FileManager.default.contents(atPath: root + "/" + path) else { return nil }
    return String(decoding: data, as: UTF8.self)
  }

  func lines(of path: String) -> [Substring] {
    (text(of: path) ?? "").split(separator: "\n", omittingEmptySubsequences: false)
  }

  func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: root + "/" + path) }

  /// Names of the folders directly below a folder.
  func folders(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root + "/" + folder)) ?? []
    return names.filter { name in
      var isDirectory = false
      return FileManager.default.fileExists(atPath: "\(root)/\(folder)/\(name)", isDirectory: &isDirectory)
        && isDirectory
    }.sorted()
  }
}
