import DatalessCore
import Glibc

@testable import DatalessDaemon

/// A log in a temporary directory that is removed with the fixture.
final class LogFixture {
  let directory: String
  let path: String
  let log: EventLog

  init(capacity: Int = 65_536, in parent: String = "/tmp") throws {
    directory = try Self.makeDirectory(in: parent)
    path = directory + "/log.jsonl"
    log = EventLog(
      descriptor: try LogFiles.open(Array(path.utf8)), session: SampleRecords.session, capacity: capacity,
      clock: SampleRecords.clock)
  }

  deinit {
    _ = log.close(timeout: .seconds(10))
    Self.removeDirectory(directory)
  }

  static func makeDirectory(in parent: String = "/tmp") throws -> String {
    var template = Array((parent + "/dataless-log-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure.noDirectory }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Removes a directory and the files in it.
  static func removeDirectory(_ path: String) {
    for name in names(in: path) { unlink(path + "/" + name) }
    rmdir(path)
  }

  static func names(in path: String) -> [String] {
    guard let stream = opendir(path) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  static func bytes(of path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(descriptor, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
    return bytes
  }

  var bytes: [UInt8] { Self.bytes(of: path) }

  /// Every line, read as JSON; the text must end with a whole one.
  static func parse(_ bytes: [UInt8]) throws -> [ParsedJSON] {
    guard bytes.isEmpty || bytes.last == UInt8(ascii: "\n") else { throw Failure.torn }
    return try bytes.split(separator: UInt8(ascii: "\n")).map { try ParsedJSON(bytes: $0) }
  }

  func lines() throws -> [ParsedJSON] { try Self.parse(bytes) }

  enum Failure: Error {
    case noDirectory, torn
  }
}
