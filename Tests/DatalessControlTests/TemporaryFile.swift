import Glibc

/// A file with some content, removed with its owner.
final class TemporaryFile {
  let path: [UInt8]

  init(_ content: [UInt8]) throws {
    var template = Array("/tmp/dataless-test-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw Failure.errno(errno) }
    defer { close(descriptor) }
    path = template.dropLast().map { UInt8(bitPattern: $0) }
    try Self.write(content, descriptor)
  }

  enum Failure: Error { case errno(CInt) }

  deinit { unlink(String(decoding: path, as: UTF8.self)) }

  func append(_ content: [UInt8]) throws {
    let descriptor = open(String(decoding: path, as: UTF8.self), O_WRONLY | O_APPEND)
    guard descriptor >= 0 else { throw Failure.errno(errno) }
    defer { close(descriptor) }
    try Self.write(content, descriptor)
  }

  private static func write(_ content: [UInt8], _ descriptor: CInt) throws {
    guard Glibc.write(descriptor, content, content.count) == content.count else { throw Failure.errno(errno) }
  }
}
