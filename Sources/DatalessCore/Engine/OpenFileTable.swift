/// Open files by number: a slab, so that an open makes no object, and an open of which many went before it allocates
/// nothing.
///
/// A number is a place, and above it how often the place was used before: the number of a file that was closed is never
/// another's.
struct OpenFileTable<File> {
  private struct Place {
    var file: File
    var use: UInt32 = 0
    /// Of those that are free, the next one plus 1, or 0 for the last; `open` for a place that is in use.
    var next: UInt32
  }

  /// LIMIT: uses of a place, after which it is left. With 32 bits for the place a number stays below 2^52, as JSON
  /// wants it.
  static var useMax: UInt32 { 1 << 20 - 1 }
  private static var open: UInt32 { .max }
  private static var segmentSize: Int { 256 }

  /// What lies in a place that is free.
  private let blank: File
  /// In segments, so that growing copies nothing.
  private var segments: ContiguousArray<ContiguousArray<Place>> = []
  private var firstFree: UInt32 = 0
  private(set) var count = 0

  init(blank: File) { self.blank = blank }

  /// Where a file is; nil if the number is of none that is open.
  private func place(_ number: UInt64) -> (segment: Int, index: Int)? {
    let place = Int(UInt32(truncatingIfNeeded: number) &- 1)
    let (segment, index) = (place / Self.segmentSize, place % Self.segmentSize)
    guard segment < segments.count, segments[segment][index].next == Self.open,
      UInt64(segments[segment][index].use) == number >> 32
    else { return nil }
    return (segment, index)
  }

  // MARK: - Looking

  subscript(number: UInt64) -> File? { place(number).map { segments[$0.segment][$0.index].file } }

  /// Looks at a part of a file, without a copy of the whole. - Returns: nil if the number is of none.
  func look<Part>(at number: UInt64, _ part: (File) -> Part) -> Part? {
    place(number).map { part(segments[$0.segment][$0.index].file) }
  }

  /// The numbers of the files in one of the table's segments; nil behind the last.
  func numbers(inSegment segment: Int) -> [UInt64]? {
    guard segment < segments.count else { return nil }
    return segments[segment].indices.compactMap { index in
      segments[segment][index].next == Self.open ? number(segment, index) : nil
    }
  }

  private func number(_ segment: Int, _ index: Int) -> UInt64 {
    UInt64(segments[segment][index].use) << 32 | UInt64(segment * Self.segmentSize + index + 1)
  }

  // MARK: - Changing

  /// - Returns: The file's number; never 0.
  mutating func insert(_ file: File) -> UInt64 {
    if firstFree == 0 { grow() }
    let place = Int(firstFree) - 1
    let (segment, index) = (place / Self.segmentSize, place % Self.segmentSize)
    firstFree = segments[segment][index].next
    segments[segment][index].file = file
    segments[segment][index].next = Self.open
    count += 1
    return number(segment, index)
  }

  private mutating func grow() {
    let first = segments.count * Self.segmentSize
    segments.append(
      ContiguousArray(
        (1...Self.segmentSize).map { number in
          Place(file: blank, next: number < Self.segmentSize ? UInt32(first + number + 1) : 0)
        }))
    firstFree = UInt32(first + 1)
  }

  /// Changes a file in its place. - Returns: nil if the number is of none.
  @discardableResult
  mutating func change<Result>(_ number: UInt64, _ change: (inout File) -> Result) -> Result? {
    guard let (segment, index) = place(number) else { return nil }
    return change(&segments[segment][index].file)
  }

  /// - Returns: What the file was; nil if the number is of none.
  mutating func remove(_ number: UInt64) -> File? { remove(number) { $0 } }

  /// - Parameter part: What is wanted of the file; nil if it is not meant, and is to stay.
  /// - Returns: That part; nil if the number is of none, too.
  mutating func remove<Part>(_ number: UInt64, _ part: (File) -> Part?) -> Part? {
    guard let (segment, index) = place(number), let part = part(segments[segment][index].file) else { return nil }
    segments[segment][index].file = blank
    count -= 1
    guard segments[segment][index].use < Self.useMax else {
      segments[segment][index].next = 0
      return part
    }
    segments[segment][index].use += 1
    segments[segment][index].next = firstFree
    firstFree = UInt32(segment * Self.segmentSize + index + 1)
    return part
  }
}
