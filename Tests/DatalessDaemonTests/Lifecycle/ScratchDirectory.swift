import Glibc

/// A directory of one test, removed with its content at the end.
final class ScratchDirectory: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/dataless-test-XXXXXX".utf8CString)
    path = String(cString: mkdtemp(&template))
  }

  deinit { Self.remove(path) }

  var bytes: [UInt8] { Array(path.utf8) }

  func bytes(_ name: String) -> [UInt8] { Array("\(path)/\(name)".utf8) }

  @discardableResult
  func directory(_ name: String) -> [UInt8] {
    mkdir("\(path)/\(name)", 0o755)
    return bytes(name)
  }

  @discardableResult
  func file(_ name: String, _ content: String = "") -> [UInt8] {
    let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    _ = content.withCString { write(descriptor, $0, strlen($0)) }
    close(descriptor)
    return bytes(name)
  }

  func exists(_ name: String) -> Bool { access("\(path)/\(name)", F_OK) == 0 }

  private static func remove(_ path: String) {
    if let directory = opendir(path) {
      while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        guard name != ".", name != ".." else { continue }
        if entry.pointee.d_type == 4 { remove("\(path)/\(name)") } else { unlink("\(path)/\(name)") }
      }
      closedir(directory)
    }
    rmdir(path)
  }
}
