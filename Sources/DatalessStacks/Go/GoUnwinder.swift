/// The stack of a goroutine, by the program's own table of frame sizes.
///
/// Never by DWARF and never by a search: in a stripped program that named a wrong caller (S5).
public struct GoUnwinder {
  private let capture: ThreadCapture
  private let table: GoFunctionTable

  private static let outermost = ["runtime.goexit", "runtime.mstart", "runtime.rt0_go"]

  public init(_ capture: ThreadCapture, table: GoFunctionTable) {
    self.capture = capture
    self.table = table
  }

  /// - Returns: nil when the thread does not stand in a function of the table: then it is in C code, and its stack is
  ///   found as that of any other program.
  public func unwind() -> Stack? {
    var stack = Stack(frames: [], end: .tooDeep)
    var address = capture.registers.programCounter
    var stackPointer = capture.registers.stackPointer
    while stack.frames.count < Stack.framesMax {
      let frame = StackFrame(
        address: address, stackPointer: stackPointer, certainty: .tables, isExact: stack.frames.isEmpty)
      guard let place = table.place(at: frame.lookupAddress) else {
        stack.end = .noTables
        return stack.frames.isEmpty ? nil : stack
      }
      stack.frames.append(frame)
      if Self.isOutermost(place.function) {
        stack.end = .outermost
        return stack
      }
      guard let size = table.frameSize(at: frame.lookupAddress), size <= UInt64(StackCopy.bytesMax),
        stackPointer <= .max - size - 8
      else {
        stack.end = .noTables
        return stack
      }
      guard let next = capture.copy.word(at: stackPointer + size) else {
        stack.end = .outsideCopy
        return stack
      }
      address = next
      stackPointer += size + 8
      guard capture.mappings.isExecutable(address) else {
        stack.end = capture.mappings.isOnVolume(address) ? .onVolume : .outsideCode
        return stack
      }
    }
    return stack
  }

  private static func isOutermost(_ name: [UInt8]) -> Bool {
    outermost.contains { name.elementsEqual($0.utf8) || name.elementsEqual(($0 + ".abi0").utf8) }
  }
}
