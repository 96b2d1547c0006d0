/// The registers of a frame, by DWARF's numbers of x86-64, as far as they are known.
///
/// A register that is not known stays nil: 0 in its place makes an unwinder lie (S2).
struct RegisterFile: Equatable {
  static let framePointer = 6
  static let stackPointer = 7
  static let returnAddress = 16
  static let count = 17
  /// What a function leaves as it found it: rbx, rbp, r12 to r15.
  static let saved = [3, 6, 12, 13, 14, 15]

  private var values: [UInt64?]

  init(stackPointer: UInt64, framePointer: UInt64? = nil) {
    values = Array(repeating: nil, count: Self.count)
    values[Self.stackPointer] = stackPointer
    values[Self.framePointer] = framePointer
  }

  /// nil for what is unknown or no register.
  subscript(_ number: Int) -> UInt64? {
    get { values.indices.contains(number) ? values[number] : nil }
    set { if values.indices.contains(number) { values[number] = newValue } }
  }
}
