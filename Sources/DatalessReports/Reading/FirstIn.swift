/// What came first is taken first, in constant time: a log may have a million waits with one key.
struct FirstIn<Element: Sendable>: Sendable {
  private var storage: [Element] = []
  private var taken = 0

  var isEmpty: Bool { taken == storage.count }
  var first: Element? { isEmpty ? nil : storage[taken] }
  var elements: ArraySlice<Element> { storage[taken...] }

  mutating func append(_ element: Element) { storage.append(element) }

  /// nil when there is nothing.
  mutating func takeFirst() -> Element? {
    guard !isEmpty else { return nil }
    defer {
      taken += 1
      if taken > storage.count / 2 {
        storage.removeFirst(taken)
        taken = 0
      }
    }
    return storage[taken]
  }
}
