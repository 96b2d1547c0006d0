internal import Synchronization
internal import SystemPackage

/// How a getxattr or listxattr is to be answered.
public enum ExtendedAttributeAnswer: Sendable {
  /// The state of the item: this is the whole value.
  case value([UInt8])
  /// The item has no such attribute.
  case absent
  /// No item of this volume can have an attribute of such a name: EOPNOTSUPP.
  case unsupported
  /// SOURCE's, whatever it says; `listed` belongs into the list of names, too.
  case ask(listed: [UInt8]?)
  /// The profile materializes on this call. Then `ask`, with the name that belongs into the list.
  case needsMaterialization(listed: [UInt8]?)
}

extension Engine {
  /// Decides about one xattr call that reached the volume, and counts it for `prior` in the log.
  ///
  /// - Parameter name: nil: the names are to be listed.
  public func extendedAttributeCall(
    _ node: NodeID, name: UnsafeBufferPointer<UInt8>?
  ) -> ExtendedAttributeAnswer {
    state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return .ask(listed: nil) }
      let record = state.namespace[position]
      state.namespace.count(.xattr, of: position)
      let attribute = state.simulation.presentation.state
      let hasState = record.kind == .file || record.kind == .directory
      if let name, let attribute {
        if name.elementsEqual(attribute.name) {
          return hasState ? .value(state.value(of: attribute, position)) : .absent
        }
        // Whatever is presented, `CDataless` finds the words that it knows.
        let known = StateAttribute.dataless
        if name.elementsEqual(known.name) { return hasState ? .value(state.value(of: known, position)) : .absent }
      }
      if let name, let value = state.policyAttribute(name, of: position) { return .value(value) }
      if state.writing != .readOnly, let known = state.answer(to: name, of: position) { return known }
      let listed = name == nil && hasState && attribute?.isListed == true ? attribute?.name : nil
      guard record.canBeDataless, record.state != .resident else { return .ask(listed: listed) }
      let triggers =
        record.kind == .directory ? state.simulation.profile.directories : state.simulation.profile.files
      guard triggers.contains(.xattr), !Self.isAskedByTheKernel(name) else { return .ask(listed: listed) }
      return .needsMaterialization(listed: listed)
    }
  }

  /// Attributes that the kernel reads by itself, at every look at permissions or at each write: no call of the
  /// program's.
  private static func isAskedByTheKernel(_ name: UnsafeBufferPointer<UInt8>?) -> Bool {
    guard let name else { return false }
    return name.starts(with: StaticString("system.posix_acl_").bytes)
      || name.starts(with: StaticString("security.").bytes)
  }

  /// The outcome that the kernel's own repeat of a failed open or xattr call gets: after ESTALE it walks the path once
  /// more and asks again.
  public func repeatedFailure(_ node: NodeID, threadID: Int32) -> FSError? {
    state.withLock { state in
      state.failures.repeatedPath(node: node, threadID: threadID, now: timer.now)
    }
  }

  /// The same for a READ: that of a page that was to be filled before, by the same thread.
  ///
  /// - Parameter isDirect: As of `read`: such a read is the program's own, and never a repeat.
  public func repeatedFailure(
    ofRead node: NodeID, handle: UInt64, offset: Int64, length: Int64, isDirect: Bool, threadID: Int32
  ) -> FSError? {
    state.withLock { state in
      state.repeatedFailure(
        ofRead: node, handle: handle, offset: offset, length: length, isDirect: isDirect, threadID: threadID,
        now: timer.now)
    }
  }

  /// How many nodes are looked at under one lock, and told to the kernel in one go: about 10 ms.
  private static let refreshStep = 4096

  /// Makes the kernel forget attributes that look different now, a bounded number at a time. It takes no lock in the
  /// kernel and cannot block (docs/ARCHITECTURE.md, R10).
  ///
  /// - Parameters:
  ///   - cursor: nil to start; then the last answer.
  ///   - ofEveryItem: False: only of files with content, whose attributes the presentation may change.
  /// - Returns: nil when all is done: names are looked up anew from then on, too, where the kernel can be told so.
  public func refreshAttributes(from cursor: NodeCursor?, ofEveryItem: Bool = false) -> NodeCursor? {
    let (nodes, next): ([NodeID], NodeCursor?) = state.withLock { state in
      var nodes: [NodeID] = []
      let next = state.namespace.visitNodes(from: cursor?.next ?? .root, limit: Self.refreshStep) { node, record in
        if ofEveryItem || (record.kind == .file && record.size > 0) { nodes.append(state.namespace.id(of: node)) }
      }
      return (nodes, next.map(NodeCursor.init))
    }
    forgetAttributes(of: nodes)
    if next == nil { kernel.expireNames() }
    return next
  }
}

extension EngineState {
  /// What is answered on a writable volume without a question to the store; nil if that is to be asked.
  fileprivate func answer(
    to name: UnsafeBufferPointer<UInt8>?, of node: NodeIndex
  ) -> ExtendedAttributeAnswer? {
    guard let name else { return isOwn(node) ? .value(ownAttributeNames(of: node)) : nil }
    let text = Array(name)
    guard ItemExtras.canBeSet(text) else { return .unsupported }
    switch knownAttribute(text, of: node) {
    case .value(let value): return .value(shown(value, text, of: node))
    case .removed: return .absent
    case .unchanged: return nil
    }
  }

  fileprivate func value(of attribute: StateAttribute, _ position: NodeIndex) -> [UInt8] {
    let record = namespace[position]
    return attribute.value(
      stateToTell(position, record), size: snapshot(of: position).attributes.size, inode: record.inode)
  }

  /// What callers are told of an item.
  private func stateToTell(_ position: NodeIndex, _ record: NodeRecord) -> StateAttribute.State {
    switch record.state {
    case .dataless: .dataless
    case .partial: .partial
    // A file of which something was there before the attempt in flight stays partial.
    case .materializing: contents.parts(of: position).map { !$0.ranges.isEmpty } ?? false ? .partial : .materializing
    case .resident: .resident
    }
  }
}

extension StaticString {
  fileprivate var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}

extension EngineState {
  /// What `Engine.repeatedFailure(ofRead:)` answers.
  mutating func repeatedFailure(
    ofRead node: NodeID, handle: UInt64, offset: Int64, length: Int64, isDirect: Bool, threadID: Int32,
    now: MonotonicTime
  ) -> FSError? {
    if isDirect { return nil }
    let range = offset..<max(offset, offset.addingReportingOverflow(length).partialValue)
    let key = RecentFailures.Key(node: node, threadID: threadID, handle: OpenHandle.inLog(handle))
    return failures.repeated(key, range: range, now: now)
  }
}
