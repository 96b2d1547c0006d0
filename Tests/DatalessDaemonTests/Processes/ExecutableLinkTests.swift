import DatalessCore
import Glibc
import Testing

@testable import DatalessDaemon

/// Programs that lose their names while they run, as at every upgrade.
@Suite struct ExecutableLinkTests {
  private let scratch = ScratchDirectory()

  /// A copy of the shell; it waits until the test lets go of it.
  private func program(_ name: String) throws -> ChildProcess {
    let copy = try ChildProcess(["/bin/cp", "/bin/sh", "\(scratch.path)/\(name)"])
    copy.waitForExit()
    let child = try ChildProcess(["\(scratch.path)/\(name)", "-c", "echo ready; read line"])
    #expect(child.readLine() == "ready")
    return child
  }

  private func executable(_ child: ChildProcess) throws -> String {
    String(decoding: try #require(ProcessSnapshot(child.pid)?.executable.bytes), as: UTF8.self)
  }

  private func rename(_ from: String, _ to: String) {
    let code = Glibc.rename("\(scratch.path)/\(from)", "\(scratch.path)/\(to)")
    #expect(code == 0)
  }

  @Test func whatWasRemovedHasThePathThatItHad() throws {
    let child = try program("tp")
    let path = try executable(child)
    #expect(path.hasSuffix("/tp"))
    unlink("\(scratch.path)/tp")
    #expect(try executable(child) == path)
    let remaining = try #require(RemainingProcess.look(child.pid))
    #expect(remaining.exe == Array(path.utf8))
    // What the kernel's text leads to now is another file.
    scratch.file("tp (deleted)")
    #expect(try executable(child) == path)
  }

  /// st_nlink says nothing of the name by which it was executed.
  @Test func whatWasReplacedHasItToo() throws {
    let child = try program("tp")
    let path = try executable(child)
    let code = link("\(scratch.path)/tp", "\(scratch.path)/another")
    #expect(code == 0)
    scratch.file("new")
    rename("new", "tp")
    #expect(try executable(child) == path)
  }

  @Test func aFileMayBeCalledSo() throws {
    let child = try program("tp (deleted)")
    let path = try executable(child)
    #expect(path.hasSuffix("/tp (deleted)"))
    unlink("\(scratch.path)/tp (deleted)")
    #expect(try executable(child) == path)
  }

  /// Rules and the watchdog go by this, and the log has it; a caller that is known is looked at in other ways.
  @Test func aCallerIsMatchedByIt() throws {
    let fixture = ProcessFixture()
    let child = try program("tp")
    unlink("\(scratch.path)/tp")
    let caller = fixture.caller(child.pid)
    var match = ProcessMatch()
    match.executables = [try PathPattern(parsing: Array("tp".utf8))]
    let facts = try #require(fixture.table.lineage(of: caller.process).first)
    #expect(match.matches(facts))
    #expect(RunningProcesses.facts().contains { match.matches($0) })
    for _ in 0..<4 { #expect(fixture.caller(child.pid).process == caller.process) }
  }

  @Test func theMarkIsTakenFromTheEndAlone() {
    func removed(_ path: String) -> String? {
      DeletedMark.removed(from: Array(path.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(removed("/a (deleted)") == "/a")
    #expect(removed("/a (deleted) (deleted)") == "/a (deleted)")
    for path in ["/a", "/a (deleted)/b", "/a(deleted)", " (deleted)", ""] { #expect(removed(path) == nil, "\(path)") }
  }
}
