import Glibc

/// A pipe whose ends are close-on-exec and above the descriptors that a child is given.
struct Pipe {
  let readEnd: CInt
  let writeEnd: CInt

  /// - Throws: `LifecycleError` when there are too many open files.
  init() throws(LifecycleError) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Self.failure(errno) }
    // Moved up: dup2 to a child's descriptor must neither meet its own source nor another pipe's end.
    readEnd = fcntl(ends[0], F_DUPFD_CLOEXEC, 16)
    writeEnd = fcntl(ends[1], F_DUPFD_CLOEXEC, 16)
    let number = errno
    close(ends[0])
    close(ends[1])
    guard readEnd >= 0, writeEnd >= 0 else { throw Self.failure(number) }
  }

  private static func failure(_ number: CInt) -> LifecycleError {
    LifecycleError("cannot make a pipe: \(ErrorText.reason(number)). Raise the limit of open files (ulimit -n).")
  }
}
