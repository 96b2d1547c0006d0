internal import SystemPackage

/// What the volume knows of few items, beside their records: extended attributes that were changed here, targets of
/// links that were made here, and ACLs that the store has.
struct ItemExtras {
  /// What is known of one extended attribute.
  enum Known: Equatable {
    case value([UInt8])
    /// It was removed here, whatever the store has.
    case removed
    /// It was not changed here: the store's, if it has one.
    case unchanged
  }

  /// LIMIT: bytes of names and values of one item, as other file systems have one.
  static let itemMax = 128 << 10

  private struct Item {
    /// nil: removed.
    var values: [[UInt8]: [UInt8]?] = [:]
    var bytes = 0
  }

  private var items: [NodeIndex: Item] = [:]
  private var targets: [NodeIndex: [UInt8]] = [:]
  private var inheritable: [NodeIndex: Inheritable] = [:]
  private var access: [NodeIndex: [UInt8]] = [:]
  private(set) var bytes = 0

  // MARK: - Extended attributes

  /// What a program may do that others may not: gone with the first write to it.
  static let capability = Array("security.capability".utf8)

  /// The kinds of attributes that a volume has, by the beginnings of their names; of `system.` the ACLs alone.
  private static let kinds = ["user.", "trusted.", "security."].map { Array($0.utf8) }

  /// Whether a name is the beginning of names alone.
  static func isKindAlone(_ name: [UInt8]) -> Bool { kinds.contains(name) }

  static func canBeSet(_ name: [UInt8]) -> Bool {
    kinds.contains { name.count > $0.count && name.starts(with: $0) } || name == PosixACL.accessName
      || name == PosixACL.defaultName
  }

  func attribute(_ name: [UInt8], of node: NodeIndex) -> Known {
    guard !items.isEmpty, let known = items[node]?.values[name] else { return .unchanged }
    return known.map { .value($0) } ?? .removed
  }

  /// Whether anything of an item was changed.
  func isChanged(_ node: NodeIndex) -> Bool { !items.isEmpty && items[node] != nil }

  /// - Parameter value: nil: it is removed, the store's, too.
  /// - Returns: False if there is no room for it; then nothing has changed.
  mutating func set(_ name: [UInt8], to value: [UInt8]?, of node: NodeIndex) -> Bool {
    let change = growth(name, value, of: node)
    var item = items[node] ?? Item()
    guard change <= 0 || item.bytes + change <= Self.itemMax else { return false }
    item.values.updateValue(value, forKey: name)
    item.bytes += change
    bytes += change
    items[node] = item
    return true
  }

  /// How many bytes more an item has with an attribute, or less.
  func growth(_ name: [UInt8], _ value: [UInt8]?, of node: NodeIndex) -> Int {
    Self.size(name, value) - (items[node]?.values[name].map { Self.size(name, $0) } ?? 0)
  }

  /// Of an item's names and values.
  func bytes(of node: NodeIndex) -> Int { items[node]?.bytes ?? 0 }

  /// What attributes take that an item is to have from the beginning; nil if one item may not have so much.
  static func bytes(of attributes: [(name: [UInt8], value: [UInt8])]) -> Int? {
    let sum = attributes.reduce(0) { $0 + size($1.name, $1.value) }
    return sum <= itemMax ? sum : nil
  }

  /// It is as the store has it, or not there at all.
  mutating func reset(_ name: [UInt8], of node: NodeIndex) {
    guard var item = items[node], let value = item.values.removeValue(forKey: name) else { return }
    item.bytes -= Self.size(name, value)
    bytes -= Self.size(name, value)
    items[node] = item.values.isEmpty ? nil : item
  }

  /// Another item takes over what was changed of one. - Returns: False if it has changes of its own: nothing is done.
  mutating func move(from old: NodeIndex, to new: NodeIndex) -> Bool {
    guard items[new] == nil, let item = items.removeValue(forKey: old) else { return false }
    items[new] = item
    return true
  }

  /// Extended attributes that were set, or removed (nil), on the volume.
  func changed(of node: NodeIndex) -> [[UInt8]: [UInt8]?] { items[node]?.values ?? [:] }

  private static func size(_ name: [UInt8], _ value: [UInt8]?) -> Int { name.count + (value?.count ?? 0) + 64 }

  /// The names that listxattr(2) shows, each ended by a zero byte. - Parameter store: The store's, in the same form.
  func names(of node: NodeIndex, besides store: [UInt8]) -> [UInt8] {
    guard let values = items[node]?.values else { return store }
    var list: [UInt8] = []
    var seen: Set<[UInt8]> = []
    for name in store.split(separator: 0).map(Array.init) {
      seen.insert(name)
      if case .some(.none) = values[name] { continue }
      list += name + [0]
    }
    let own = values.filter { $0.value != nil && !seen.contains($0.key) }.keys
    for name in own.sorted(by: { $0.lexicographicallyPrecedes($1) }) { list += name + [0] }
    return list
  }

  // MARK: - Links

  func target(of node: NodeIndex) -> [UInt8]? { targets.isEmpty ? nil : targets[node] }
  mutating func setTarget(_ target: [UInt8], of node: NodeIndex) { targets[node] = target }

  // MARK: - Inheritance

  /// The ACL for what is made in a directory.
  enum Inheritable: Equatable {
    case none
    case value([UInt8])
    /// There may be one, which could not be read, or not be kept: without it others would have rights that it does not
    /// give, so nothing is made there.
    case unknown(Errno)

    fileprivate var bytes: Int { if case .value(let value) = self { value.count } else { 0 } }
  }

  /// What the store has for what is made in a directory. - Returns: How many bytes more are kept, or less.
  @discardableResult
  mutating func setInheritable(_ value: Inheritable, of directory: NodeIndex) -> Int {
    guard value != .none || !inheritable.isEmpty else { return 0 }
    let before = inheritable[directory]?.bytes ?? 0
    inheritable[directory] = value == .none ? nil : value
    return value.bytes - before
  }

  /// The ACL for what is made in a directory: as it was changed here, or the store's.
  func defaultACL(of directory: NodeIndex) -> Inheritable {
    switch attribute(PosixACL.defaultName, of: directory) {
    case .value(let value): .value(value)
    case .removed: .none
    case .unchanged: inheritable.isEmpty ? .none : inheritable[directory] ?? .none
    }
  }

  // MARK: - The store's access ACLs

  /// The access ACL that the store had for an item when something of it came here; nil if it had none, as far as is
  /// known. It is the item's own when the store has that no more: without it the mode, in which the mask stands for the
  /// group, gives others what the ACL does not.
  func accessACL(of node: NodeIndex) -> [UInt8]? { access.isEmpty ? nil : access[node] }

  /// - Returns: How many bytes more are kept, or less.
  @discardableResult
  mutating func setAccessACL(_ value: [UInt8]?, of node: NodeIndex) -> Int {
    guard value != nil || !access.isEmpty else { return 0 }
    let before = access[node]?.count ?? 0
    access[node] = value
    return (value?.count ?? 0) - before
  }

  // MARK: - Forgetting

  /// Items are given back.
  mutating func forget(_ nodes: [NodeIndex]) {
    for node in nodes {
      if !items.isEmpty, let item = items.removeValue(forKey: node) { bytes -= item.bytes }
      if !targets.isEmpty { targets[node] = nil }
      if !inheritable.isEmpty { inheritable[node] = nil }
      if !access.isEmpty { access[node] = nil }
    }
  }
}
