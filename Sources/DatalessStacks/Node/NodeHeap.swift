/// A word of V8's heap: a small integer, or an object's address with its lowest bit set.
enum NodeValue {
  static func isObject(_ value: UInt64) -> Bool { value & 3 == 1 }

  /// nil for an object.
  static func integer(_ value: UInt64) -> Int? {
    value & 0xffff_ffff == 0 ? Int(Int32(truncatingIfNeeded: value >> 32)) : nil
  }
}

/// Reads objects of V8's heap. Whatever the memory says, it ends: reads are counted, depths are bounded.
struct NodeHeap<Memory: CallerMemory> {
  let memory: Memory
  let layout: NodeLayout
  // LIMIT: bytes that one walk may read: names, and sources up to where functions begin. What is left at the end is for
  // names alone: a large source must not leave functions without.
  private var bytesLeft = 8 << 20
  private static var bytesForNames: Int { 1 << 20 }
  private static var nameBytesMax: Int { 4096 }

  /// Pages of a heap begin at multiples of it; what they begin with tells of V8 11.3 alone.
  private static var pageBytes: UInt64 { 256 << 10 }

  // LIMIT: how deep a text may be put together.
  private static var depthMax: Int { 12 }

  init(memory: Memory, layout: NodeLayout) {
    self.memory = memory
    self.layout = layout
  }

  private mutating func spend(_ count: Int) -> Bool {
    guard count <= bytesLeft - (count > Self.nameBytesMax ? Self.bytesForNames : 0) else { return false }
    bytesLeft -= count
    return true
  }

  /// The word at an offset of an object, whose tag is 1.
  mutating func word(_ object: UInt64, _ offset: Int) -> UInt64? {
    guard NodeValue.isObject(object), spend(8) else { return nil }
    return memory.word(UInt64.self, at: object &- 1, offset)
  }

  mutating func field(_ object: UInt64, _ field: NodeLayout.Field) -> UInt64? { word(object, Int(layout[field])) }

  mutating func type(of object: UInt64) -> UInt16? {
    guard let map = word(object, 0), NodeValue.isObject(map), spend(2) else { return nil }
    return memory.word(UInt16.self, at: map &- 1, Int(layout[.instanceType]))
  }

  /// Whether an object is of a kind that the constants name.
  mutating func isOfType(_ object: UInt64, _ field: NodeLayout.Field) -> Bool {
    type(of: object).map { Int32($0) == layout[field] } ?? false
  }

  /// The heap in which an address lies, and which part of its page has objects, by what is at the page's beginning:
  /// size, flags, heap, begin, end.
  mutating func page(of address: UInt64) -> (heap: UInt64, objects: Range<UInt64>)? {
    let page = address & ~(Self.pageBytes - 1)
    guard spend(40), let head = memory.bytes(at: page, count: 40), let heap = head.word(UInt64.self, at: 16),
      let start = head.word(UInt64.self, at: 24), let end = head.word(UInt64.self, at: 32), heap != 0,
      page < start, start <= address, address < end
    else { return nil }
    return (heap, start..<end)
  }

  /// The first characters of a text, as UTF-16; nil for what is no text or cannot be read.
  mutating func text(_ object: UInt64, limit: Int) -> [UInt16]? {
    var units: [UInt16] = []
    return append(object, from: 0, limit: limit, depth: 0, to: &units) ? units : nil
  }

  /// - Returns: False where a part could not be read.
  private mutating func append(
    _ object: UInt64, from start: Int, limit: Int, depth: Int, to units: inout [UInt16]
  ) -> Bool {
    guard depth < Self.depthMax, let type = type(of: object), Int32(type) < layout[.firstNonString], spend(4),
      let length = memory.word(Int32.self, at: object &- 1, Int(layout[.length])).map({ Int($0) }), start <= length
    else { return false }
    let count = min(length - start, limit - units.count)
    guard count > 0 else { return true }
    switch Int32(type) & layout[.representationMask] {
    case layout[.consTag]:
      guard let first = field(object, .first), let second = field(object, .second) else { return false }
      let before = units.count
      guard append(first, from: start, limit: before + count, depth: depth + 1, to: &units) else { return false }
      let left = count - (units.count - before)
      // The text begins in its first part unless somebody else's offset says otherwise.
      return left <= 0 || start > 0
        || append(second, from: 0, limit: units.count + left, depth: depth + 1, to: &units)
    case layout[.slicedTag]:
      guard let parent = field(object, .parent), let offset = field(object, .offset).flatMap(NodeValue.integer),
        offset >= 0,
        offset <= Int(Int32.max) - start
      else { return false }
      return append(parent, from: offset + start, limit: units.count + count, depth: depth + 1, to: &units)
    case layout[.thinTag]:
      guard let actual = field(object, .actual) else { return false }
      return append(actual, from: start, limit: units.count + count, depth: depth + 1, to: &units)
    case layout[.externalTag]:
      // Behind the resource V8 keeps where its data is.
      guard let data = word(object, Int(layout[.resource]) + 8) else { return false }
      return append(at: data, from: start, count: count, type: type, to: &units)
    case 0:
      let isOneByte = Int32(type) & layout[.oneByteTag] != 0
      let characters = UInt64(layout[isOneByte ? .oneByteCharacters : .twoByteCharacters])
      return append(at: object &- 1 &+ characters, from: start, count: count, type: type, to: &units)
    default: return false
    }
  }

  private mutating func append(at data: UInt64, from start: Int, count: Int, type: UInt16, to units: inout [UInt16])
    -> Bool
  {
    let width = Int32(type) & layout[.oneByteTag] != 0 ? 1 : 2
    let (address, overflow) = data.addingReportingOverflow(UInt64(start * width))
    guard !overflow, spend(count * width), let bytes = memory.bytes(at: address, count: count * width) else {
      return false
    }
    if width == 1 {
      units += bytes.lazy.map(UInt16.init)
    } else {
      units += (0..<count).lazy.compactMap { bytes.word(UInt16.self, at: $0 * 2) }
    }
    return true
  }
}
