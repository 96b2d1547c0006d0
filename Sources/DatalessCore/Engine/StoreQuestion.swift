/// What the store is asked of an item's metadata.
enum StoreQuestion: Sendable {
  case linkTarget
  case attribute([UInt8])
  /// Each name ended by a zero byte. - Parameter first: A name that is in the list once, whether the store has it or
  /// not.
  case attributeNames(first: [UInt8]?)

  func ask(_ store: any BackingStore, _ item: StoreBinding) -> Result<[UInt8], FSError> {
    do throws(FSError) {
      switch self {
      case .linkTarget: return .success(try store.readLink(item))
      case .attribute(let name): return .success(try store.extendedAttribute(name, of: item))
      case .attributeNames(let first):
        return .success(Self.list(try store.extendedAttributeNames(of: item), first: first))
      }
    } catch {
      return .failure(error)
    }
  }

  func ask(_ store: any AsyncBackingStore, _ item: StoreBinding) async -> Result<[UInt8], FSError> {
    do throws(FSError) {
      switch self {
      case .linkTarget: return .success(try await store.readLink(item))
      case .attribute(let name): return .success(try await store.extendedAttribute(name, of: item))
      case .attributeNames(let first):
        return .success(Self.list(try await store.extendedAttributeNames(of: item), first: first))
      }
    } catch {
      return .failure(error)
    }
  }

  private static func list(_ names: [[UInt8]], first: [UInt8]?) -> [UInt8] {
    var list = first.map { $0 + [0] } ?? []
    for name in names where name != first {
      list += name
      list.append(0)
    }
    return list
  }
}

/// The task that asks a store whose calls wait; shared by whoever begins it and whoever ends the call before its time.
final class StoreQuestionTask: Sendable {
  private let task = LaneTask()

  func begin(on executor: LaneExecutor, _ body: @escaping @Sendable () async -> Void) { task.begin(on: executor, body) }
  func cancel() { task.cancel() }
}
