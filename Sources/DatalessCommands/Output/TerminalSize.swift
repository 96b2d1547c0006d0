import Glibc

/// How wide the text may be.
enum TerminalSize {
  /// Columns of the terminal on a descriptor; $COLUMNS, else 100, for anything else.
  static func columns(_ descriptor: CInt = STDOUT_FILENO) -> Int {
    var size = winsize()
    if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
    return getenv("COLUMNS").flatMap { Int(String(cString: $0)) }.flatMap { $0 > 0 ? $0 : nil } ?? 100
  }
}
