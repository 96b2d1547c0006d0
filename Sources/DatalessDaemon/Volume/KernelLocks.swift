import DatalessControl
import DatalessCore

/// What the kernel keeps locked while the reply to a request is put off: nothing that a gate could change, so it is
/// said.
///
/// Measured on Linux 6.18; docs/SCENARIOS.md has the table.
enum KernelLocks {
  /// One sentence for each kind of caller that waits for the attempt.
  static func sentences(_ attempt: AttemptSnapshot) -> [String] {
    var sentences: [String] = []
    let triggers = Set(attempt.waiters.map(\.trigger))
    if triggers.contains(.lookup) {
      sentences.append(
        "a lookup is parked: other callers that look up the same name in this directory, list it, or create or remove names in"
          + " it wait unkillably; names that the kernel knows, and other new names, are served")
    }
    if triggers.contains(.readdir) {
      sentences.append(
        "a listing is parked: callers that create, remove or rename names in this directory wait unkillably, and lookups behind"
          + " them; other lookups and listings go through")
    }
    if triggers.contains(.seek) {
      sentences.append(
        "a seek for data or a hole is parked: other seeks of this kind in the same file, and seeks from its end, wait unkillably"
      )
    }
    if attempt.waiters.contains(where: { $0.io == .pageCache }) {
      sentences.append(
        "a page of the file is locked (mmap, sendfile or exec): readers of the same page through the page cache wait, and so"
          + " does mmap(2) of the file through a handle that was opened while it was dataless, with its whole process")
    }
    return sentences
  }

  /// What to say of an attempt that is held for longer than the kernel's limit; nil for one that nobody can wait
  /// unkillably behind.
  ///
  /// - Parameter limit: nil when the kernel does not look.
  static func warning(_ attempt: AttemptSnapshot, hungTaskTimeoutSeconds limit: Int64?) -> String? {
    let mayHang = attempt.kind == .directory || attempt.waiters.contains { $0.io == .pageCache || $0.trigger == .seek }
    guard mayHang, let limit, attempt.stageAge >= .seconds(limit) else { return nil }
    return
      "held for longer than kernel.hung_task_timeout_secs (\(limit) s): the kernel may report tasks that wait behind it,"
      + " and panics if kernel.hung_task_panic is set. Release it."
  }

  /// The kernel's limit for tasks that wait unkillably; nil when it does not look at them.
  static func hungTaskTimeoutSeconds() -> Int64? {
    guard let text = try? FileBytes.read("/proc/sys/kernel/hung_task_timeout_secs"),
      let seconds = Int64(String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)), seconds > 0
    else { return nil }
    return seconds
  }
}
