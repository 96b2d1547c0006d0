import Glibc

/// A file without a name, which goes with its descriptor. Files, not pipes: what a program says never holds it up.
final class OutputFile: Sendable {
  let descriptor: Int32

  /// `folder`: of this user alone. Throws as open(2).
  init(in folder: String) throws {
    let path = "\(folder)/output-\(UInt64.random(in: .min ... .max))"
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 { throw failure("open", path) }
    unlink(path)
  }

  deinit { close(descriptor) }

  /// All that is in it by now; what is no UTF-8 is U+FFFD.
  func text() -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = pread(descriptor, &buffer, buffer.count, bytes.count)
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
