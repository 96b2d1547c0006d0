/// Arrays of a bash, such as BASH_SOURCE: in its hash table of global variables. All of it is foreign memory.
struct BashArrays<Memory: CallerMemory> {
  // LIMIT: buckets of the table, and variables in one of them. Bash has 1024 and as good as never 8.
  static var bucketsMax: Int32 { 1 << 20 }
  static var chainMax: Int { 64 }
  // LIMIT: bytes of an element.
  static var textMax: Int { 512 }

  private let memory: Memory
  private let buckets: UInt64
  private let count: UInt32

  /// - Parameter globals: Where the pointer to the context of the global variables is.
  init?(globals: UInt64, memory: Memory) {
    guard let context = memory.word(UInt64.self, at: globals),
      let table = memory.word(UInt64.self, at: context, 32),
      let buckets = memory.word(UInt64.self, at: table, 0), let count = memory.word(Int32.self, at: table, 8),
      count > 0, count <= Self.bucketsMax, count & (count - 1) == 0
    else { return nil }
    self.memory = memory
    self.buckets = buckets
    self.count = UInt32(count)
  }

  /// The element 0 of an array: empty for an array without elements, nil for what is none.
  func first(of name: String) -> [UInt8]? {
    let name = Array(name.utf8)
    let hash = Self.hash(name)
    var next = memory.word(UInt64.self, at: buckets, Int(hash & (count - 1)) * 8)
    for _ in 0..<Self.chainMax {
      guard let bucket = next, bucket != 0 else { return nil }
      if memory.word(UInt32.self, at: bucket, 24) == hash, let key = memory.word(UInt64.self, at: bucket, 8),
        memory.text(at: key, limit: name.count + 1) == name
      {
        return memory.word(UInt64.self, at: bucket, 16).flatMap { first(ofVariable: $0) }
      }
      next = memory.word(UInt64.self, at: bucket, 0)
    }
    return nil
  }

  private func first(ofVariable variable: UInt64) -> [UInt8]? {
    let arrayAttribute: Int32 = 4
    guard let attributes = memory.word(Int32.self, at: variable, 40), attributes & arrayAttribute != 0,
      let array = memory.word(UInt64.self, at: variable, 8), let elements = memory.word(Int64.self, at: array, 8)
    else { return nil }
    guard elements > 0 else { return elements == 0 ? [] : nil }
    // The head of the list is no element.
    guard let head = memory.word(UInt64.self, at: array, 16), let element = memory.word(UInt64.self, at: head, 16),
      element != head, memory.word(Int64.self, at: element, 0) == 0,
      let value = memory.word(UInt64.self, at: element, 8),
      let text = memory.text(at: value, limit: Self.textMax), text.count < Self.textMax
    else { return nil }
    return text
  }

  /// FNV-1 of 32 bits.
  private static func hash(_ name: [UInt8]) -> UInt32 {
    name.reduce(2_166_136_261) { hash, byte in (hash &* 16_777_619) ^ UInt32(byte) }
  }
}
