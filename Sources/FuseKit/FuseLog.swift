internal import CFuse3
internal import Glibc
internal import Synchronization

/// The libfuse that this process has loaded.
public enum FuseLibrary {
  /// Its version at run time, such as `3.14.0`. C: `fuse_pkgversion`.
  public static var version: String { String(cString: fuse_pkgversion()) }
}

/// How grave a message of libfuse is; syslog's levels.
public enum FuseLogLevel: UInt32, Sendable, Hashable {
  case emergency, alert, critical, error, warning, notice, info, debug
}

/// Where libfuse's own messages go: to one Swift handler of the process instead of stderr.
///
/// libfuse has one log function per process, so the handler is global; the session made last has it.
enum FuseLog {
  typealias Handler = @Sendable (FuseLogLevel, String) -> Void

  private static let handler = Mutex<Handler?>(nil)

  /// Makes `handler` receive everything libfuse has to say from now on.
  static func install(_ handler: @escaping Handler) {
    self.handler.withLock { $0 = handler }
    // A closure, because the type of a va_list differs between architectures and is inferred here.
    fuse_set_log_func { level, format, arguments in fuseLogged(level, format, arguments) }
  }

  /// Passes one message to the handler, outside the lock.
  static func emit(_ level: FuseLogLevel, _ message: String) {
    handler.withLock { $0 }?(level, message)
  }
}

/// Formats one libfuse message. The last argument is a va_list, which Swift can pass on but not read.
private func fuseLogged(_ level: fuse_log_level, _ format: UnsafePointer<CChar>?, _ arguments: CVaListPointer?) {
  guard let format, let arguments else { return }
  let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer -> String in
    guard let base = buffer.baseAddress, vsnprintf(base, buffer.count, format, arguments) >= 0 else { return "" }
    return String(cString: base)
  }
  let trimmed = text.drop(while: \.isWhitespace)
  guard let last = trimmed.lastIndex(where: { !$0.isWhitespace }) else { return }
  FuseLog.emit(FuseLogLevel(rawValue: level.rawValue) ?? .notice, String(trimmed[...last]))
}
