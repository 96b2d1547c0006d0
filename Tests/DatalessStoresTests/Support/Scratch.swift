import CDatalessLinux
import DatalessCore
import DatalessStores
import Glibc
import SystemPackage

/// A temporary directory with the few file calls that the tests need; removed with the object.
final class Scratch: Sendable {
  let path: String

  init(_ label: String = "stores") {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/dataless-test-\(label)-XXXXXX".utf8CString)
    path = template.withUnsafeMutableBufferPointer { buffer in
      guard let made = mkdtemp(buffer.baseAddress!) else { fatalError("mkdtemp failed: errno \(errno)") }
      return String(cString: made)
    }
  }

  deinit { Scratch.removeTree(path) }

  static func removeTree(_ path: String) {
    let words = ["rm", "-rf", "--one-file-system", path]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { word in strdup(word) }
    arguments.append(nil)
    defer { arguments.forEach { free($0) } }
    var child = pid_t()
    if posix_spawn(&child, "/bin/rm", nil, nil, &arguments, environ) == 0 {
      var status: CInt = 0
      waitpid(child, &status, 0)
    }
  }

  var filePath: FilePath { FilePath(path) }

  func full(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file, truncating it. - Returns: The bytes.
  @discardableResult
  func write(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
    let file = open(full(name), O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard file >= 0 else { fatalError("cannot create \(full(name)): errno \(errno)") }
    defer { close(file) }
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { Glibc.write(file, $0.baseAddress!, $0.count) }
      guard count > 0 else { fatalError("cannot write \(full(name)): errno \(errno)") }
      done += count
    }
    return bytes
  }

  @discardableResult
  func write(_ name: String, _ text: String) -> [UInt8] { write(name, Array(text.utf8)) }

  func makeDirectory(_ name: String) {
    if mkdir(full(name), 0o755) != 0 { fatalError("cannot create \(full(name)): errno \(errno)") }
  }

  func makeSymlink(_ name: String, to target: String) {
    if symlink(target, full(name)) != 0 { fatalError("cannot link \(full(name)): errno \(errno)") }
  }

  func move(_ from: String, to target: String) {
    if rename(full(from), full(target)) != 0 { fatalError("cannot rename \(full(from)): errno \(errno)") }
  }

  func remove(_ name: String) { unlink(full(name)) }

  func status(_ name: String) -> stat {
    var status = stat()
    if lstat(full(name), &status) != 0 { fatalError("cannot stat \(full(name)): errno \(errno)") }
    return status
  }

  /// Sets access and modification time, of a symbolic link itself too.
  func setTimes(_ name: String, access: Int, modification: Int) {
    let times = [timespec(tv_sec: access, tv_nsec: 0), timespec(tv_sec: modification, tv_nsec: 0)]
    if utimensat(AT_FDCWD, full(name), times, AT_SYMLINK_NOFOLLOW) != 0 { fatalError("utimensat: errno \(errno)") }
  }

  func exists(_ name: String) -> Bool {
    var status = stat()
    return lstat(full(name), &status) == 0
  }
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
  final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  let context = Unmanaged.passRetained(Work(body)).toOpaque()
  let started = pthread_create(
    &thread, nil,
    { context in
      let work = Unmanaged<Work>.fromOpaque(context!).takeRetainedValue()
      guard clinux_unshare_mounts() == 0, mount(nil, "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0
      else { fatalError("cannot make a mount namespace: errno \(errno)") }
      work.body()
      return nil
    }, context)
  guard started == 0 else { fatalError("cannot start a thread") }
  pthread_join(thread, nil)
}
