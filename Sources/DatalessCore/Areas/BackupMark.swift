internal import SystemPackage

/// An extended attribute by which a program says that an item, and what is below it, is to be in no backup.
public enum BackupMark: String, Sendable, CaseIterable {
  /// macOS and iOS since 5.1: `com.apple.metadata:com_apple_backup_excludeItem`. It is there, or not.
  case excludeItem = "user.com.apple.metadata:com_apple_backup_excludeItem"
  /// iOS 5.0.1: one byte, 1.
  case mobileBackup = "user.com.apple.MobileBackup"

  var name: [UInt8] { Array(rawValue.utf8) }

  /// Whether an attribute of this name and value says so.
  func isSet(_ value: [UInt8]) -> Bool {
    switch self {
    case .excludeItem: true
    case .mobileBackup: value.first.map { $0 != 0 && $0 != UInt8(ascii: "0") } ?? false
    }
  }
}

extension Engine {
  /// The mark that an item itself bears; without latency, and no call of a program's.
  ///
  /// - Parameter completion: Called once, perhaps before this returns, on the metadata lane else. nil: none, or the
  ///   store does not tell.
  public func backupMark(of node: NodeID, completion: @escaping @Sendable (BackupMark?) -> Void) {
    var asked: [BackupMark] = []
    let known: BackupMark? = state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return nil }
      for mark in BackupMark.allCases {
        switch state.knownAttribute(mark.name, of: position) {
        case .value(let value): if mark.isSet(value) { return mark }
        case .removed: break
        case .unchanged: asked.append(mark)
        }
      }
      return nil
    }
    guard known == nil, !asked.isEmpty else { return completion(known) }
    extendedAttributeNames(of: node, threadID: 0, waiter: makeEagerWaiter()) { [self, asked] result in
      guard case .success(let text) = result else { return completion(nil) }
      let names = text.split(separator: 0).map(Array.init)
      look(asked.filter { names.contains($0.name) }, of: node, completion)
    }
  }

  /// Asks for the values of marks that are there.
  private func look(_ marks: [BackupMark], of node: NodeID, _ completion: @escaping @Sendable (BackupMark?) -> Void) {
    guard let mark = marks.first else { return completion(nil) }
    extendedAttribute(mark.name, of: node, threadID: 0, waiter: makeEagerWaiter()) { [self] result in
      if case .success(let value) = result, mark.isSet(value) { return completion(mark) }
      look(Array(marks.dropFirst()), of: node, completion)
    }
  }
}
