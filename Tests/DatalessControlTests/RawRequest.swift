import Glibc

@testable import DatalessDaemon

/// A Unix domain socket without an HTTP library, for requests that none would send. Runs in the test's own thread; the
/// server has threads of its own, and both ends have a time limit.
enum RawRequest {
  enum Failure: Error { case errno(CInt) }

  /// Sends `request` and leaves the connection open. - Returns: Its descriptor.
  static func open(_ request: String, to path: String) throws -> CInt {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard withAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
      close(descriptor)
      throw Failure.errno(errno)
    }
    _ = Array(request.utf8).withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    return descriptor
  }

  /// Sends `request` and reads until the server closes the connection.
  static func send(_ request: String, to path: String) throws -> String {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    guard withAddress(path, { connect(descriptor, $0, $1) }) == 0 else { throw Failure.errno(errno) }
    _ = Array(request.utf8).withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      answer += buffer[0..<count]
    }
    return String(decoding: answer, as: UTF8.self)
  }

  static func withAddress<Result>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}

/// A socket that listens and accepts only where it is told to.
final class ListeningSocket: Sendable {
  private let descriptor: CInt
  private let path: String

  init(path: String) throws {
    self.path = path
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let descriptor = descriptor
    guard RawRequest.withAddress(path, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 8) == 0 else {
      throw RawRequest.Failure.errno(errno)
    }
  }

  /// Accepts one connection, says `text` to whatever is asked, and then nothing until the other side closes it. On a
  /// thread of its own.
  func answerOnce(_ text: String) {
    let descriptor = descriptor
    DetachedThread.start {
      let connection = accept(descriptor, nil, nil)
      guard connection >= 0 else { return }
      var buffer = [UInt8](repeating: 0, count: 4096)
      _ = read(connection, &buffer, buffer.count)
      _ = Array(text.utf8).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      while read(connection, &buffer, buffer.count) > 0 {}
      Glibc.close(connection)
    }
  }

  func close() {
    Glibc.close(descriptor)
    unlink(path)
  }
}
