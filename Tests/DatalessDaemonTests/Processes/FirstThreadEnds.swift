import Glibc

@testable import DatalessDaemon

/// The program of Clients/first-thread-ends.c: its first thread has ended, another one goes on until the test lets go.
final class FirstThreadEnds {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let program: [UInt8]
  let files: [[UInt8]]
  private let child: ChildProcess
  private let scratch: ScratchDirectory
  /// Of the process, and of its first thread.
  var pid: Int32 { child.pid }
  /// The thread that goes on.
  let tid: Int32

  /// - Parameter files: It has them open for writing.
  init(in scratch: ScratchDirectory, files: [[UInt8]] = []) throws {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
    let target = "\(scratch.path)/first-thread-ends"
    let compiler = try ChildProcess(
      script: """
        cd '\(root)' && cc -std=gnu11 -O1 -Wall -Wextra -Werror -o '\(target)' \
        Tests/DatalessDaemonTests/Clients/first-thread-ends.c -lpthread >&2 && echo compiled
        """)
    guard compiler.readLine() == "compiled" else {
      throw Failure(description: "cannot compile the client: see standard error")
    }
    compiler.waitForExit()
    child = try ChildProcess([Array(target.utf8)] + files)
    guard let tid = child.readLine().flatMap({ Int32($0) }) else { throw Failure(description: "no thread goes on") }
    (program, self.files, self.scratch, self.tid) = (Array(target.utf8), files, scratch, tid)
  }

  /// Its last thread ends, and nobody takes its zombie away.
  func end() {
    kill(pid, SIGKILL)
    var end = siginfo_t()
    while waitid(P_PID, id_t(pid), &end, WEXITED | WNOWAIT) < 0, errno == EINTR {}
  }
}
