@testable import DatalessCore
import Synchronization

/// Keeps all changes, and makes them durable when the test says so.
final class RecordingJournal: JournalSink {
  private struct State {
    var changes: [StateChange] = []
    var durable = ChangeNumber(rawValue: 0)
    var waiting: [(number: ChangeNumber, completion: @Sendable (FSError?) -> Void)] = []
  }

  private let state = Mutex(State())
  let keepsChanges = true

  var changes: [StateChange] { state.withLock { $0.changes } }

  func append(_ change: StateChange, _ number: ChangeNumber) {
    state.withLock { state in
      state.changes.append(change)
      precondition(number.rawValue == UInt64(state.changes.count), "numbers follow each other")
    }
  }

  func whenDurable(_ number: ChangeNumber, _ completion: @escaping @Sendable (FSError?) -> Void) {
    let isDone = state.withLock { state in
      if number > state.durable { state.waiting.append((number, completion)) }
      return number <= state.durable
    }
    if isDone { completion(nil) }
  }

  /// The disk is full: whoever waits is told, once.
  func fail(_ error: FSError) {
    let told = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in told { waiter.completion(error) }
  }

  /// All changes up to a number are durable.
  func makeDurable(_ number: UInt64) {
    let due = state.withLock { state in
      state.durable = ChangeNumber(rawValue: number)
      defer { state.waiting.removeAll { $0.number <= state.durable } }
      return state.waiting.filter { $0.number <= state.durable }
    }
    for waiter in due { waiter.completion(nil) }
  }
}

/// What a daemon would find that reads a journal.
struct JournalReplay: Equatable {
  struct Content: Equatable {
    var reference: ContentID
    var binding: StoreBinding?
  }

  struct Name: Hashable {
    var directory: NodeID
    var text: [UInt8]
  }

  var contents: [NodeID: Content] = [:]
  var names: [Name: NodeID] = [:]
  var hidden: [Name: NodeID] = [:]
  var modes: [NodeID: UInt32] = [:]

  init(_ changes: some Sequence<StateChange>) { for change in changes { apply(change) } }

  private mutating func apply(_ change: StateChange) {
    switch change {
    case .content(let item, let reference): contents[item.node] = Content(reference: reference, binding: item.binding)
    case .contentDropped(let item, _): contents[item.node] = nil
    case .bound(let item, let formerKey):
      contents[item.node]?.binding = item.binding
      guard let key = item.binding?.key, key != formerKey else { return }
      for (node, content) in contents where content.binding?.key.starts(with: formerKey + [UInt8(ascii: "/")]) == true {
        contents[node]?.binding?.key = key + (content.binding?.key.dropFirst(formerKey.count) ?? [])
      }
    case .named(let item, let name, let directory):
      names[Name(directory: directory.node, text: name)] = item.node
    case .unnamed(let name, let directory): names[Name(directory: directory.node, text: name)] = nil
    case .hidden(let item, let name, let directory): hidden[Name(directory: directory.node, text: name)] = item.node
    case .unhidden(let name, let directory): hidden[Name(directory: directory.node, text: name)] = nil
    case .attributes(let item, let attributes, _), .listed(let item, let attributes, _):
      modes[item.node] = attributes.mode
    case .dirty(let item, let reference): contents[item.node] = Content(reference: reference, binding: item.binding)
    case .together(let changes): for change in changes { apply(change) }
    case .made, .attribute, .storeName, .forgotten, .trashed, .vanished, .gone, .followed: break
    }
  }
}
