/// What has to be read of a thread while it waits: less than 0.1 ms. Everything else comes later, and needs only this
/// and files.
public struct ThreadCapture: Sendable, Equatable {
  public let registers: ThreadRegisters
  public let mappings: MappingTable
  public let copy: StackCopy
  /// Generated code whose functions all keep rbp as their frame pointer, as whoever has made it promises; ascending.
  var framedCode: [Range<UInt64>] = []

  // LIMIT: parts of generated code that are told of. Node has one for 256 KiB of code.
  static let framedCodeMax = 64

  init(registers: ThreadRegisters, mappings: MappingTable, copy: StackCopy) {
    self.registers = registers
    self.mappings = mappings
    self.copy = copy
  }

  public enum Failure: Error, Sendable, Equatable {
    /// The thread runs, ran meanwhile, or has gone.
    case threadRan
    /// Not ours to look at: another user's, undumpable, or of a process with more capabilities (S18).
    case permission
    /// A thread of the process maps a file on a volume right now, and memory cannot be read until that has its reply
    /// (S14).
    case memoryLocked
    /// /proc/PID/maps or the stack could not be read.
    case unreadable
  }

  /// Looks at a blocked thread. Only in the capture process: it can wait for ever.
  ///
  /// - Parameters:
  ///   - known: What earlier captures have left.
  ///   - walk: What has to be walked while the thread waits: the frames of an interpreter. It is given the copy of the
  ///     stack, if that could be read. What it returns holds only if this returns.
  public static func take<Walked>(
    processID: Int32, threadID: Int32, volumes: Set<DeviceNumber>, known: KnownCallers = KnownCallers(),
    walk: (MappingTable, ProcessMemory, StackCopy?) -> Walked
  ) -> Result<(capture: ThreadCapture, walked: Walked), Failure> {
    let thread = known.thread(processID: processID, threadID: threadID)
    switch thread.look() {
    case .failure(let failure): return .failure(failure)
    case .success(let before):
      if MappingWait.isElsewhere(processID, threadID, in: before.registers.call) { return .failure(.threadRan) }
      guard let mappings = known.mappings(of: processID, volumes: volumes) else { return .failure(.unreadable) }
      if MappingWait.isLikely(processID, beside: threadID, in: before.registers.call) { return .failure(.memoryLocked) }
      let memory = ProcessMemory(processID: processID, mappings: mappings)
      let copy = memory.stack(from: before.registers.stackPointer)
      let walked = walk(mappings, memory, copy)
      // Also before an error is told: what could not be read of a thread that went on says nothing.
      guard case .success(let after) = thread.lookAgain(), after == before else { return .failure(.threadRan) }
      guard let copy else { return .failure(.unreadable) }
      let capture = ThreadCapture(registers: before.registers, mappings: mappings, copy: copy)
      return .success((capture: capture, walked: walked))
    }
  }
}
