import DatalessCore
import Glibc

/// What this process needs of /proc: Swift's runtime has the arguments from there, its thread pool looks for its own
/// threads there, by the pid that the kernel tells it, and traps where they are not; and volumes tell who calls by it.
/// In a chroot without it there are no arguments at all; in a pid namespace that has another one's, that one's
/// processes have our numbers.
enum OwnProcess {
  /// - Parameters:
  ///   - own: What /proc/self leads to; nil where there is no such link.
  ///   - pid: What getpid(2) says. Default: that.
  ///   - arguments: Those of the command line, as far as they are known.
  /// - Returns: Why nothing can be done here; nil if all is well.
  static func failure(own: String?, pid: pid_t = getpid(), arguments: [String]) -> CommandFailure? {
    guard own != "\(pid)" else { return nil }
    let what =
      own == nil
      ? "/proc is not mounted here"
      : "/proc is that of another pid namespace: this process is \(pid) here, and \(own ?? "?") there"
    // Unless it is sure that no command of the caller's has a status of its own.
    let passesStatusOn = arguments.first.map { ["run", "exec", "coordinate"].contains($0) } ?? true
    return CommandFailure(
      "cannot run: \(what). Mount it in this namespace (mount -t proc proc /proc; unshare --mount-proc), and try again.",
      status: passesStatusOn ? .runFailed : .failure)
  }

  static var linkOfSelf: String? {
    var buffer = [CChar](repeating: 0, count: 64)
    let count = readlink("/proc/self", &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
  }
}
