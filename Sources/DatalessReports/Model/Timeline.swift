import DatalessControl

/// Who was blocked when, in at most some thousand pieces: of more waits, those of one thread that are near each other
/// become one piece, which says so.
struct Timeline: Sendable {
  /// One wait, or several of one lane.
  struct Piece: Sendable, Equatable {
    var start: Int64
    var end: Int64
    var waits: Int64 = 1
    var blocked: Int64
    var longest: Int64
    /// Of the longest of them.
    var path: [UInt8]?
    var trigger: String
    var outcome: String
    var stack: ReportStack
    var failures: Int64
    var isUnderWay: Bool
  }

  struct Row: Sendable {
    /// Of the first lane that is in it.
    var lane: ThreadLanes.Lane
    /// Whether it stands for all the threads beyond the limit.
    var isRest = false
    var pieces: [Piece] = []
    var waits: Int64 = 0
    var blocked: Int64 = 0

    mutating func sortPieces() { pieces.sort { $0.start < $1.start } }
  }

  static let piecesMax = 20_000
  static let rowsMax = 1_000

  private(set) var rows: [Row] = []
  /// Pieces of one row that begin within the same multiple of so many nanoseconds are one; 0: nothing was merged.
  private(set) var resolution: Int64 = 0
  private var rowOfLane: [Int: Int] = [:]
  private var restRow: Int?
  private var count = 0

  mutating func add(_ wait: ReportWait, lanes: ThreadLanes) {
    let index = row(of: wait.lane, lanes)
    rows[index].waits += 1
    rows[index].blocked = rows[index].blocked.plus(wait.blocked)
    let piece = Piece(
      start: wait.start, end: max(wait.start, wait.end), blocked: wait.blocked, longest: wait.blocked, path: wait.path,
      trigger: wait.trigger, outcome: wait.outcome, stack: wait.stack, failures: wait.isFailure ? 1 : 0,
      isUnderWay: wait.isUnderWay)
    // Most come in order; those whose stack came late are put in their place when pieces are merged.
    if resolution > 0, let last = rows[index].pieces.last, bucket(last) == bucket(piece) {
      rows[index].pieces[rows[index].pieces.count - 1] = Self.merged(last, piece)
      return
    }
    rows[index].pieces.append(piece)
    count += 1
    if count > Self.piecesMax { coarsen() }
  }

  private mutating func row(of lane: Int, _ lanes: ThreadLanes) -> Int {
    if let index = rowOfLane[lane] {
      if lanes.lanes[lane].isMainThread { rows[index].lane.isMainThread = true }
      return index
    }
    if rows.count < Self.rowsMax {
      rowOfLane[lane] = rows.count
      rows.append(Row(lane: lanes.lanes[lane]))
      return rows.count - 1
    }
    if let restRow { return restRow }
    restRow = rows.count
    rows.append(Row(lane: lanes.lanes[lane], isRest: true))
    return rows.count - 1
  }

  private func bucket(_ piece: Piece) -> Int64 { piece.start / max(1, resolution) }

  /// Doubles the resolution until half of the room is free.
  private mutating func coarsen() {
    for index in rows.indices { rows[index].sortPieces() }
    while count > Self.piecesMax / 2, resolution < Int64.max / 4 {
      resolution = resolution == 0 ? 1_024 : resolution * 2
      count = 0
      for index in rows.indices {
        var merged: [Piece] = []
        for piece in rows[index].pieces {
          if let last = merged.last, bucket(last) == bucket(piece) {
            merged[merged.count - 1] = Self.merged(last, piece)
          } else {
            merged.append(piece)
          }
        }
        rows[index].pieces = merged
        count += merged.count
      }
      // Each row keeps one at least.
      if count <= rows.count { break }
    }
  }

  private static func merged(_ first: Piece, _ second: Piece) -> Piece {
    var result = second.longest > first.longest ? second : first
    result.start = min(first.start, second.start)
    result.end = max(first.end, second.end)
    result.waits = first.waits + second.waits
    result.blocked = first.blocked.plus(second.blocked)
    result.failures = first.failures + second.failures
    result.isUnderWay = first.isUnderWay || second.isUnderWay
    return result
  }
}
