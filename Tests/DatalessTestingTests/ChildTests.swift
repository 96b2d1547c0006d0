import Glibc
import Testing

@testable import DatalessTesting

@Suite struct ChildTests {
  private static func file(_ text: String) -> Int32 {
    var template = Array("/tmp/dataless-child-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    unlink(template)
    _ = text.withCString { write(descriptor, $0, strlen($0)) }
    return descriptor
  }

  /// Each of two takes the number that the other one has here.
  @Test func descriptorsGetTheirNumbersWhateverNumbersTheyHave() async throws {
    let (one, two, output) = (Self.file("one "), Self.file("two "), Self.file(""))
    defer { for descriptor in [one, two, output] { close(descriptor) } }
    let child = try await Child.start(
      Child.Plan(
        words: ["sh", "-c", "cat /proc/self/fd/\(one) /proc/self/fd/\(two)"],
        environment: ["PATH": "/usr/bin:/bin"], descriptors: [one: two, two: one, 1: output]))
    #expect(await child.status(within: .seconds(30)) == 0)
    child.reap()
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = pread(output, &bytes, bytes.count, 0)
    #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "two one ")
  }
}
