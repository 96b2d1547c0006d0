import DatalessControl
import Glibc
import Synchronization

@testable import DatalessDaemon

/// A daemon of any version: answers each call with what a test has written down, and everything else as daemons of all
/// versions did. One request on each connection.
final class ScriptedDaemon: Sendable {
  let path: String
  private let descriptor: CInt
  private let asked = Mutex<[String]>([])
  /// The first lines of what was asked, without the protocol's version.
  var calls: [String] { asked.withLock { $0 } }

  /// - Parameter answers: Status line and body by call, such as `GET /v1/status`.
  init(_ answers: [String: (status: String, body: String)]) throws {
    var template = Array("/tmp/dataless-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw RawRequest.Failure.errno(errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/control.sock"
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let descriptor = descriptor
    guard RawRequest.withAddress(path, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 8) == 0 else {
      throw RawRequest.Failure.errno(errno)
    }
    DetachedThread.start { [self] in
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { break }
        answer(connection, answers)
        Glibc.close(connection)
      }
      // Here, where nobody accepts any more: the number may be the next daemon's at once.
      Glibc.close(descriptor)
    }
  }

  private func answer(_ connection: CInt, _ answers: [String: (status: String, body: String)]) {
    var request: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !String(decoding: request, as: UTF8.self).contains("\r\n\r\n") {
      let count = read(connection, &buffer, buffer.count)
      guard count > 0 else { return }
      request += buffer[0..<count]
    }
    let words = String(decoding: request, as: UTF8.self).split(separator: " ", maxSplits: 2)
    let path = words[1].prefix { $0 != "?" }
    let call = "\(words[0]) \(path)"
    asked.withLock { $0.append(call) }
    let unknown = (status: "404 Not Found", body: #"{"error":{"code":"not_found","message":"there is no \#(path)"}}"#)
    let (status, body) = answers[call] ?? unknown
    let text =
      "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nConnection: close\r\n"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    _ = Array(text.utf8).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  }

  func close() {
    // Wakes the thread that accepts, which closes it.
    shutdown(descriptor, Int32(SHUT_RDWR))
    unlink(path)
    rmdir(String(path.dropLast("/control.sock".count)))
  }
}
