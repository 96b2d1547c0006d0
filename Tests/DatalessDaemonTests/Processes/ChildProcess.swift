import Glibc

@testable import DatalessDaemon

/// A real child with pipes to its standard input and from its standard output. It is killed when the test lets go of
/// it.
final class ChildProcess {
  let pid: Int32
  private let input: Int32
  private let output: Int32
  private var isReaped = false

  /// - Parameter arguments: as bytes, the first one is the program's path.
  init(_ arguments: [[UInt8]]) throws {
    var toChild: [Int32] = [0, 0]
    var fromChild: [Int32] = [0, 0]
    guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw Failure.noPipe }
    for descriptor in toChild + fromChild { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
    posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
    var vector: [UnsafeMutablePointer<CChar>?] = arguments.map { argument in
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: argument.count + 1)
      for (index, byte) in argument.enumerated() { copy[index] = CChar(bitPattern: byte) }
      copy[argument.count] = 0
      return copy
    }
    vector.append(nil)
    defer { for case .some(let copy) in vector { copy.deallocate() } }
    var pid: pid_t = 0
    let failure = posix_spawn(&pid, vector[0]!, &actions, nil, vector, environ)
    close(toChild[0])
    close(fromChild[1])
    input = toChild[1]
    output = fromChild[0]
    self.pid = pid
    guard failure == 0 else { throw Failure.notStarted(failure) }
  }

  convenience init(_ arguments: [String]) throws { try self.init(arguments.map { Array($0.utf8) }) }

  /// A shell script.
  convenience init(script: String) throws { try self.init(["/bin/sh", "-c", script]) }

  deinit {
    closeInput()
    close(output)
    if !isReaped {
      kill(pid, SIGKILL)
      waitForExit()
    }
  }

  func send(_ text: String) { _ = write(input, text, text.utf8.count) }

  private var isInputOpen = true
  func closeInput() {
    if isInputOpen { close(input) }
    isInputOpen = false
  }

  /// The next line of its output without the newline; nil at the end, or when none comes for 30 s.
  func readLine() -> String? {
    var line: [UInt8] = []
    while true {
      var poll = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard Glibc.poll(&poll, 1, 30_000) == 1 else { return nil }
      var byte: UInt8 = 0
      guard read(output, &byte, 1) == 1 else { return nil }
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
  }

  /// Waits for its end, and takes its zombie away.
  func waitForExit() {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    isReaped = true
  }

  enum Failure: Error {
    case noPipe
    case notStarted(Int32)
  }
}
