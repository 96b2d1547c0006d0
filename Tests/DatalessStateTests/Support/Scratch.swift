import CDatalessLinux
import DatalessCore
import Glibc
import TestSupport

/// A temporary directory, 0700; removed with the object.
final class Scratch: Sendable {
  let path: String

  init(_ label: String = "state") {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/dataless-test-\(label)-XXXXXX".utf8CString)
    path = template.withUnsafeMutableBufferPointer { buffer in
      guard let made = mkdtemp(buffer.baseAddress!) else { fatalError("mkdtemp failed: errno \(errno)") }
      return String(cString: made)
    }
  }

  deinit { Self.removeTree(path) }

  static func removeTree(_ path: String) { run("rm", "-rf", "--one-file-system", path) }

  func copy(to other: Scratch) { Self.run("cp", "-a", path + "/.", other.path) }

  private static func run(_ words: String...) {
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { word in strdup(word) }
    arguments.append(nil)
    defer { arguments.forEach { free($0) } }
    var child = pid_t()
    if posix_spawnp(&child, words[0], nil, nil, &arguments, environ) == 0 {
      var status: CInt = 0
      waitpid(child, &status, 0)
    }
  }

  func full(_ name: String) -> String { "\(path)/\(name)" }

  func read(_ name: String) -> [UInt8] {
    let file = open(full(name), O_RDONLY)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(file, &buffer, buffer.count)
      if count <= 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  func write(_ name: String, _ bytes: [UInt8], mode: mode_t = 0o600) {
    let file = open(full(name), O_WRONLY | O_CREAT | O_TRUNC, mode)
    guard file >= 0 else { fatalError("cannot create \(full(name)): errno \(errno)") }
    defer { close(file) }
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { Glibc.write(file, $0.baseAddress!, $0.count) }
      guard count > 0 else { fatalError("cannot write \(full(name)): errno \(errno)") }
      done += count
    }
  }

  func exists(_ name: String) -> Bool {
    var status = stat()
    return lstat(full(name), &status) == 0
  }

  /// All that is no directory, by its path from here.
  func files(_ below: String = "") -> [String] {
    guard let stream = opendir(full(below)) else { return [] }
    defer { closedir(stream) }
    var found: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name == "." || name == ".." { continue }
      let path = below.isEmpty ? name : "\(below)/\(name)"
      if Int(entry.pointee.d_type) == Int(DT_DIR) { found += files(path) } else { found.append(path) }
    }
    return found.sorted()
  }

  func openDirectory() -> CInt { open(path, O_RDONLY | O_CLOEXEC) }
}

/// What a call threw.
func thrown(_ body: () throws(FSError) -> Void) -> FSError? {
  do throws(FSError) {
    try body()
    return nil
  } catch {
    return error
  }
}

let isRoot = geteuid() == 0

/// Runs `body` on a thread with a mount namespace of its own: its mounts vanish with it, also when the test is killed.
func withPrivateMounts(_ body: @escaping @Sendable () -> Void) {
  Pthread.run {
    guard clinux_unshare_mounts() == 0, mount(nil, "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0
    else { fatalError("cannot make a mount namespace: errno \(errno)") }
    body()
  }
}
