/// A state directory, each time another copy of it: a test that has ended a volume still holds the lock of its own, and
/// what was not closed is in the copy as a crash has left it.
final class StateCopies {
  private(set) var last = StateFixture()
  private var isUsed = false

  func next() -> StateFixture {
    if isUsed { last = last.copy() }
    isUsed = true
    return last
  }
}
