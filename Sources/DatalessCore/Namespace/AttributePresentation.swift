/// How attributes of items look that are, or were, without content: what `present.*` says, and what it takes to follow
/// it.
struct AttributePresentation {
  /// st_blocks of files without their content.
  private var datalessBlocks = Presentation.Blocks.zero
  /// Whether st_ctime moves when content comes.
  private var movesChangeTime = false
  /// The moved times; empty unless they move.
  private var movedChangeTimes: [NodeIndex: Timestamp] = [:]
  /// st_blocks of files that are partly there.
  private var partialBlocks: [NodeIndex: Int64] = [:]
  /// The time of day, for moved times alone.
  private let timeOfDay: @Sendable () -> Timestamp

  init(timeOfDay: @escaping @Sendable () -> Timestamp) { self.timeOfDay = timeOfDay }

  /// Takes over how attributes look. Moved times are forgotten when they do not move any more.
  mutating func present(_ presentation: Presentation) {
    datalessBlocks = presentation.blocks
    movesChangeTime = presentation.changeTime == .bump
    if !movesChangeTime { movedChangeTimes = [:] }
  }

  /// A file has become resident.
  mutating func noteContent(of node: NodeIndex) {
    if movesChangeTime { movedChangeTimes[node] = timeOfDay() }
  }

  /// An item's attributes were changed on the volume: its time is the one that this has given it.
  mutating func noteChange(of node: NodeIndex) { if !movedChangeTimes.isEmpty { movedChangeTimes[node] = nil } }

  /// What is there of a file of which other bytes are missing; nil: nothing, or all.
  mutating func setPartialBytes(_ bytes: Int64?, of node: NodeIndex) {
    if bytes == nil, partialBlocks.isEmpty { return }
    partialBlocks[node] = bytes.map { ($0 / 4096 + ($0 % 4096 == 0 ? 0 : 1)) * 8 }
  }

  /// The item is forgotten.
  mutating func forget(_ node: NodeIndex) {
    if !movedChangeTimes.isEmpty { movedChangeTimes[node] = nil }
    if !partialBlocks.isEmpty { partialBlocks[node] = nil }
  }

  func partialBlocks(of node: NodeIndex) -> Int64? { partialBlocks.isEmpty ? nil : partialBlocks[node] }

  /// Makes of a file's listed attributes what is shown of it. Only for files with content.
  func apply(to attributes: inout ItemAttributes, of node: NodeIndex, isDataless: Bool, isDirty: Bool = false) {
    attributes.blocks = isDataless ? blocksWithoutContent(node, attributes) : Self.blocks(attributes, isDirty: isDirty)
    if !movedChangeTimes.isEmpty, let moved = movedChangeTimes[node] { attributes.changeTime = moved }
  }

  /// The blocks of a file that is not resident: of what is there, or as is presented for a dataless one.
  private func blocksWithoutContent(_ node: NodeIndex, _ attributes: ItemAttributes) -> Int64 {
    if let blocks = partialBlocks(of: node) { return blocks }
    switch datalessBlocks {
    case .zero: return 0
    case .one: return 1
    case .real: return Self.blocks(attributes)
    }
  }

  /// A resident file's blocks: SOURCE's own, unless SOURCE says 0 for a file with content (data kept in the inode),
  /// which would make a resident file look dataless.
  /// A dirty file's are its content's, but never 0.
  private static func blocks(_ attributes: ItemAttributes, isDirty: Bool = false) -> Int64 {
    if isDirty { return max(attributes.blocks, 1) }
    let size = attributes.size
    return attributes.blocks > 0 ? attributes.blocks : (size >> 12 + (size & 4095 == 0 ? 0 : 1)) * 8
  }
}
