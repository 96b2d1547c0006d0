import Glibc
import Synchronization

/// Notices that nobody reads any more what a command writes: for those that may have nothing to write for a long time,
/// and so no error to learn it from.
///
/// A thread of its own waits in poll(2). Of a pipe or socket the kernel says there when the last reader is gone; a file
/// has no readers, and the end of a terminal is a signal.
final class ReaderWatch: Sendable {
  private struct State {
    var hasGone = false
    /// The end by which the thread is told that nobody wants to know any more; nil when it was.
    var ending: CInt?
  }

  private let state: Mutex<State>
  private let onGone: @Sendable () -> Void

  /// - Parameters:
  ///   - descriptor: What the command writes to. Default: standard output.
  ///   - onGone: Called at most once, on another thread.
  /// - Returns: nil where no reader can go away, or the kernel has no thread or descriptors left: then the next write
  ///   finds out.
  init?(descriptor: CInt = STDOUT_FILENO, onGone: @escaping @Sendable () -> Void) {
    guard Self.hasReaders(descriptor), let ends = Pipe.make() else { return nil }
    state = Mutex(State(ending: ends.writing))
    self.onGone = onGone
    let started = DetachedWait.start { [self] in
      var polled = [Self.polled(descriptor), pollfd(fd: ends.reading, events: Int16(POLLIN), revents: 0)]
      while poll(&polled, nfds_t(polled.count), -1) < 0, errno == EINTR {}
      close(ends.reading)
      if polled[1].revents == 0, Self.isGone(polled[0]) { tell() }
    }
    guard !started else { return }
    close(ends.reading)
    end()
    return nil
  }

  /// Whether the reader has gone away while it was watched.
  var hasGone: Bool { state.withLock { $0.hasGone } }

  /// Ends the watch. Nothing is called from now on, but for what is being called.
  func end() {
    let ending = state.withLock { state in
      defer { state.ending = nil }
      return state.ending
    }
    if let ending { close(ending) }
  }

  private func tell() {
    let isWanted = state.withLock { state in
      state.hasGone = state.ending != nil
      return state.hasGone
    }
    if isWanted { onGone() }
  }

  /// Whether what is written there goes to a reader that may go away.
  static func hasReaders(_ descriptor: CInt) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    return [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
  }

  /// For poll(2): it asks for nothing, since errors and hang-ups are told without being asked for.
  static func polled(_ descriptor: CInt) -> pollfd { pollfd(fd: descriptor, events: 0, revents: 0) }

  /// Whether poll(2) says that the reader has gone.
  static func isGone(_ polled: pollfd) -> Bool { polled.revents & Int16(POLLERR | POLLHUP) != 0 }
}

extension Blocking {
  /// As `run`, for work that now and then writes to standard output: when nobody reads that any more the work is
  /// cancelled, and the command ends as silently as where writing has failed for that reason.
  static func runWhileRead<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
    var watch: ReaderWatch?
    defer { watch?.end() }
    do {
      return try run(onStart: { task in watch = ReaderWatch { task.cancel() } }, work)
    } catch {
      if watch?.hasGone == true { throw CommandExit(.success) }
      throw error
    }
  }
}
