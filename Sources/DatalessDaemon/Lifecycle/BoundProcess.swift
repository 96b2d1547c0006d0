import DatalessCore
import Glibc
import SystemPackage

/// The process with which a volume ends, whatever ends it: SIGKILL, too. Held by a pidfd, so that another process which
/// gets its id later is not taken for it.
enum BoundProcess {
  /// - Parameter pid: Of this user; of anybody for root.
  /// - Throws: `LifecycleError` with ESRCH (there is none, it has ended, or it is a thread), EPERM (another user's) or
  ///   what pidfd_open(2) says (ENOSYS before Linux 5.3).
  static func open(_ pid: Int32) throws(LifecycleError) -> ProcessHandle {
    let what = "cannot mount with --ends-with \(pid)"
    let handle: ProcessHandle
    do throws(Errno) {
      handle = try ProcessHandle(opening: pid)
    } catch {
      switch error {
      case .noSuchProcess, .invalidArgument: throw gone(what)
      default:
        throw LifecycleError(
          "\(what): the kernel does not tell the ends of processes: \(error.description) (\(error.name)). "
            + "Leave the option out, and unmount when the volume is not needed any more.")
      }
    }
    // An id that is given again between the two is another process' then, and the handle has ended.
    guard let users = handle.userIDs, let user = users.first, !handle.hasEnded else { throw gone(what) }
    guard geteuid() == 0 || user == geteuid() else {
      throw LifecycleError(
        "\(what): it belongs to user \(user) (EPERM). Only root may have a volume end with a process of another user.")
    }
    return handle
  }

  private static func gone(_ what: String) -> LifecycleError {
    LifecycleError(
      "\(what): there is no such process, or it has ended (ESRCH). Give the id of a process that is running, such as $$."
    )
  }

  /// Calls `action` once, on a thread of its own, when the process has ended.
  static func whenEnded(_ process: ProcessHandle, _ action: @escaping @Sendable () -> Void) {
    DetachedThread.start {
      // Only an error of poll(2) itself, which this process has no use for going on with, ends it without the end.
      while !process.hasEnded {
        if DescriptorIO.waitReadable([process.descriptor], until: nil).isEmpty { return }
      }
      action()
    }
  }
}
