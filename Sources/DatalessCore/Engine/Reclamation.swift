/// When places of names and items that are gone may be given back: nobody keeps one past a hold of the lock, and nobody
/// gives back already. What is given back, and how, is in `Engine+Forgetting`.
struct Reclamation {
  /// How many keep places. Each takes its pin back once.
  private(set) var pins = 0
  private var isUnderWay = false

  /// Puts the giving back off until the pin is taken back.
  mutating func pin() { pins += 1 }

  mutating func unpin() { pins -= 1 }

  /// Whether it is to be begun. - Parameter hasLeftovers: Whether there is anything to be given back.
  func isDue(_ hasLeftovers: Bool) -> Bool { mayGoOn(hasLeftovers) && !isUnderWay }

  /// Begins it if it is due. - Returns: Whether the caller is the one who gives back now.
  mutating func begin(_ hasLeftovers: Bool) -> Bool {
    guard isDue(hasLeftovers) else { return false }
    isUnderWay = true
    return true
  }

  /// Asked by who gives back, before each step. - Returns: False at its end.
  mutating func goOn(_ hasLeftovers: Bool) -> Bool {
    isUnderWay = mayGoOn(hasLeftovers)
    return isUnderWay
  }

  private func mayGoOn(_ hasLeftovers: Bool) -> Bool { pins == 0 && hasLeftovers }
}
