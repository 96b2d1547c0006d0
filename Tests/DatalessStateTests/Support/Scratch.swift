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

  /// No program does this: one that is being started has this process's locks until it has begun.
  static func removeTree(_ path: String) {
    for name in names(in: path) {
      let child = "\(path)/\(name)"
      if unlink(child) != 0 && (errno == EISDIR || errno == EPERM) { removeTree(child) }
    }
    rmdir(path)
  }

  /// Files and directories with mode and times; links are followed.
  func copy(to other: Scratch) { Self.copyTree(path, other.path) }

  private static func copyTree(_ path: String, _ target: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    let times = [status.st_atim, status.st_mtim]
    if status.st_mode & S_IFMT == S_IFDIR {
      mkdir(target, 0o700)
      for name in names(in: path) { copyTree("\(path)/\(name)", "\(target)/\(name)") }
    } else {
      let (source, copy) = (open(path, O_RDONLY | O_CLOEXEC), open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
      defer { for file in [source, copy] { close(file) } }
      guard ftruncate(copy, status.st_size) == 0, copyData(source, copy) else {
        fatalError("cannot copy \(path): errno \(errno)")
      }
    }
    chmod(target, status.st_mode & 0o7777)
    utimensat(AT_FDCWD, target, times, 0)
  }

  /// Slabs are large, and mostly holes.
  private static func copyData(_ source: CInt, _ copy: CInt) -> Bool {
    // As glibc has them behind _GNU_SOURCE.
    let (seekData, seekHole): (CInt, CInt) = (3, 4)
    var start = lseek(source, 0, seekData)
    while start >= 0 {
      var end = lseek(source, start, seekHole)
      lseek(source, start, SEEK_SET)
      lseek(copy, start, SEEK_SET)
      while start < end {
        let count = sendfile(copy, source, nil, Int(end - start))
        if count < 0 { return false }
        // It has become shorter.
        if count == 0 { end = start }
        start += count
      }
      start = lseek(source, start, seekData)
    }
    return errno == ENXIO
  }

  private static func names(in path: String) -> [String] {
    guard let stream = opendir(path) else { return [] }
    defer { closedir(stream) }
    var found: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != "." && name != ".." { found.append(name) }
    }
    return found
  }

  func full(_ name: String) -> String { "\(path)/\(name)" }

  func read(_ name: String) -> [UInt8] {
    let file = open(full(name), O_RDONLY | O_CLOEXEC)
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
    let file = open(full(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
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
    var found: [String] = []
    for name in Self.names(in: full(below)) {
      let path = below.isEmpty ? name : "\(below)/\(name)"
      var status = stat()
      let isDirectory = lstat(full(path), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      if isDirectory { found += files(path) } else { found.append(path) }
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
