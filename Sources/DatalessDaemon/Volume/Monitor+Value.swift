/// A monitor as a value that others wait for.
extension Monitor {
  /// Sets the value and wakes all who wait for it.
  func set(_ value: State) {
    update { $0 = value }
  }

  /// Changes the value and wakes all who wait for it.
  func update(_ change: (inout State) -> Void) {
    withLock(change)
    broadcast()
  }
}
