import Glibc

/// Lets other threads run, where a test has nothing to wait for but a number.
enum ThreadYield {
  static func now() { sched_yield() }
}
