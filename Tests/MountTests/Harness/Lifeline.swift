import Glibc

/// Ends what a process of tests has started when that process ends itself, however: a run that is killed leaves no
/// daemon behind.
///
/// A daemon has left its parent, process group and session on purpose, so neither a signal to a group nor
/// PR_SET_PDEATHSIG (of the parent, which ended long ago) reaches it. What it keeps is its environment: everything that
/// the tests start has a mark in it. A guard beside the tests holds the reading end of a pipe whose writing end nobody
/// but this process has. When that ends, the guard kills whatever has the mark, and takes the mounts down that were
/// told to it. The directories stay, to be looked at.
struct Lifeline: Sendable {
  static let variable = "DATALESS_TEST_RUN"

  /// This process'.
  static let own = Result { try Lifeline(mark: "\(getpid())-\(UInt64.random(in: 0 ... .max))") }

  let mark: String
  let guardian: pid_t
  private let pipe: Pipe

  /// - Parameter mark: Of those that are to end, as the value of `variable`.
  init(mark: String) throws {
    self.mark = mark
    pipe = try Pipe()
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(null) }
    // Without the mark itself. A group of its own: what is sent to ours does not reach it.
    guardian = try Spawn.start(
      ["bash", "-c", Self.script, "dataless-test-guard", "\(Self.variable)=\(mark)"], environment: [:],
      input: pipe.reading,
      output: null, errors: null)
    close(pipe.reading)
  }

  /// Whose mounts are to go: all below this directory.
  func tell(_ directory: String) {
    let line = Array("\(directory)\n".utf8)
    _ = line.withUnsafeBytes { write(pipe.writing, $0.baseAddress, $0.count) }
  }

  /// As the end of this process.
  func cut() { close(pipe.writing) }

  /// What is killed may start something before it is dead, so it looks until there is nothing left.
  private static let script = #"""
    trap '' HUP INT TERM
    roots=()
    while IFS= read -r root; do roots+=("$root"); done
    for try in {1..100}; do
      pids=$(grep -lszxF -- "$1" /proc/[0-9]*/environ | cut -d/ -f3)
      [ -n "$pids" ] || break
      kill -9 $pids
    done
    for root in "${roots[@]}"; do
      cut -d' ' -f5 /proc/self/mountinfo | grep -F -- "$root/" | sort -r | while IFS= read -r point; do
        umount -l "$point" || fusermount3 -u -z "$point"
      done
    done
    """#
}
