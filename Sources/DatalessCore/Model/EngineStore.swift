/// The store that an engine asks: one whose calls block a thread of a lane, or one whose calls wait without a thread.
public enum EngineStore: Sendable {
  case blocking(any BackingStore)
  case async(any AsyncBackingStore)

  /// As `BackingStore.root`.
  var root: ItemAttributes {
    switch self {
    case .blocking(let store): store.root
    case .async(let store): store.root
    }
  }

  /// As `BackingStore.isFastLocal`.
  var isFastLocal: Bool {
    switch self {
    case .blocking(let store): store.isFastLocal
    case .async: false
    }
  }
}
