/// What presenters have left unread, by process: who is cut off when it is too much of all together.
struct UnreadMessages {
  private struct Process {
    var count = 0
    var longest: (presenter: UInt64, count: Int)?
  }

  private var processes: [Int32: Process] = [:]

  mutating func add(_ presenter: UInt64, of process: Int32, count: Int) {
    guard count > 0 else { return }
    processes[process, default: Process()].count += count
    // The older one of two that are alike.
    if let longest = processes[process]?.longest, (count, longest.presenter) < (longest.count, presenter) { return }
    processes[process]?.longest = (presenter, count)
  }

  /// The presenter with most of it, of the process with most of it; nil: nothing is unread.
  var first: UInt64? {
    let most = processes.max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }
    return most?.value.longest?.presenter
  }
}
