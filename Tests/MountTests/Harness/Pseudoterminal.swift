import Glibc
import TestSupport

/// A terminal of the test's own, with a program on it.
final class Pseudoterminal: Sendable {
  private let master: Int32
  let child: Child

  /// - Parameter arguments: The program has the terminal as its standard input and output, and as its controlling one.
  init(_ arguments: [String], timeLimit: Duration = .seconds(30)) throws {
    // What posix_openpt(3), unlockpt(3) and ptsname(3) do, which Swift cannot call: TIOCSPTLCK and TIOCGPTN.
    let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (lock, number): (Int32, Int32) = (0, 0)
    guard master >= 0, ioctl(master, 0x4004_5431, &lock) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
      throw HarnessError("no pseudoterminal: errno \(errno)")
    }
    self.master = master
    let path = "/dev/pts/\(number)"
    // Standard error stays a pipe of ours. The shell leads no session, so that opening the terminal does not take it.
    child = try Child(
      ["sh", "-c", #"exec setsid --wait --ctty "$@" < "$0" > "$0""#, path] + arguments,
      environment: ["TERM": "xterm"], timeLimit: timeLimit)
  }

  /// Whether each key is heard at once and unseen, as a screen wants it; nil when the terminal cannot say.
  var isRaw: Bool? {
    var attributes = termios()
    guard tcgetattr(master, &attributes) == 0 else { return nil }
    return attributes.c_lflag & tcflag_t(ICANON | ECHO) == 0
  }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    write(master, bytes, bytes.count)
  }

  /// What is shown until all of these texts have been, or the program has gone.
  func read(until texts: [String]) async -> String {
    await Pthread.value { [master] in
      var all: [UInt8] = []
      let limit = ContinuousClock.now + .seconds(20)
      while ContinuousClock.now < limit {
        var polled = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&polled, 1, 1_000) > 0 else { continue }
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(master, &piece, piece.count)
        // EIO: nobody has the other side any more.
        guard count > 0 else { break }
        all += piece.prefix(count)
        let shown = String(decoding: all, as: UTF8.self)
        if !texts.isEmpty, texts.allSatisfy({ shown.contains($0) }) { break }
      }
      return String(decoding: all, as: UTF8.self)
    }
  }

  /// As when its window is closed.
  func hangUp() { close(master) }
}
