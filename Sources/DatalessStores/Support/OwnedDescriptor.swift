internal import Glibc
internal import SystemPackage

/// A file descriptor with one owner: closed when the owner goes, never twice.
struct OwnedDescriptor: ~Copyable, Sendable {
  let raw: CInt

  init(_ raw: CInt) { self.raw = raw }

  deinit { _ = Glibc.close(raw) }

  /// Gives the descriptor away; nothing is closed here any more.
  consuming func take() -> CInt {
    let raw = self.raw
    discard self
    return raw
  }

  /// Closes now and says what close(2) said: a network file system or a quota reports a failed write only here.
  consuming func close() throws(Errno) {
    let result = Glibc.close(raw)
    let error = errno
    discard self
    if result != 0 && error != EINTR { throw Errno(rawValue: error) }
  }
}
