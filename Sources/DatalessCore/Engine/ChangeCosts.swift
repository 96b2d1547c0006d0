internal import SystemPackage

/// What changes of one kind on a writable volume take of the daemon's memory, by whose items they are. So what one user
/// makes ends before the memory does, and before nothing is left for the others.
///
/// An item's are its owner's, as a disk quota has it: chown(2) takes them along. In bytes, about as many as the tables
/// take.
struct ChangeCosts {
  private struct Item {
    var uid: UInt32
    var bytes: Int64
  }

  private let volumeMax: Int64
  private let userMax: Int64
  private var items: [NodeIndex: Item] = [:]
  private var users: [UInt32: Int64] = [:]
  /// Of all.
  private(set) var bytes: Int64 = 0

  /// - Parameters:
  ///   - volumeMax: Of all.
  ///   - userMax: Of one owner's items.
  init(volumeMax: Int64, userMax: Int64) {
    self.volumeMax = volumeMax
    self.userMax = userMax
  }

  /// An item that was made here: its record, and what is kept beside it.
  static let item: Int64 = 512

  /// A name that was made here. - Parameter length: Of its text.
  static func name(_ length: Int) -> Int64 { 96 + Int64(length) }

  /// What a user's items take.
  func bytes(of uid: UInt32) -> Int64 { users[uid] ?? 0 }

  /// Why there is no room for more of a user's: EDQUOT (he has used up what one may), ENOSPC (all have). Root may use
  /// what there is.
  func refusal(of more: Int64, for uid: UInt32) -> Errno? {
    guard more > 0 else { return nil }
    guard more <= volumeMax - bytes else { return .noSpace }
    return uid == 0 || more <= userMax - bytes(of: uid) ? nil : .diskQuotaExceeded
  }

  /// An item takes more, or less.
  ///
  /// - Parameter uid: Its owner, if it has taken nothing so far.
  mutating func add(_ change: Int64, to node: NodeIndex, of uid: UInt32) {
    guard change != 0, change > 0 || items[node] != nil else { return }
    var item = items[node] ?? Item(uid: uid, bytes: 0)
    // What a listing took away was not told.
    let change = max(change, -item.bytes)
    item.bytes += change
    items[node] = item.bytes > 0 ? item : nil
    book(change, for: item.uid)
  }

  /// An item that was restored takes so much, whatever the limits are.
  mutating func set(_ bytes: Int64, of node: NodeIndex, _ uid: UInt32) {
    add(bytes - (items[node]?.bytes ?? 0), to: node, of: uid)
  }

  /// An item has another owner.
  mutating func move(_ node: NodeIndex, to uid: UInt32) {
    guard !items.isEmpty, let item = items[node], item.uid != uid else { return }
    items[node]?.uid = uid
    book(-item.bytes, for: item.uid)
    book(item.bytes, for: uid)
  }

  /// Items are given back.
  mutating func forget(_ nodes: [NodeIndex]) {
    guard !items.isEmpty else { return }
    for node in nodes { if let item = items.removeValue(forKey: node) { book(-item.bytes, for: item.uid) } }
  }

  private mutating func book(_ change: Int64, for uid: UInt32) {
    bytes += change
    let now = (users[uid] ?? 0) + change
    users[uid] = now > 0 ? now : nil
  }
}
