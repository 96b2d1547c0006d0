internal import CDatalessLinux

/// Memory of somebody else: every address is foreign, and every read may fail.
public protocol CallerMemory {
  /// - Returns: nil unless all `count` bytes could be read.
  func bytes(at address: UInt64, count: Int) -> [UInt8]?
}

extension CallerMemory {
  func word<Word: FixedWidthInteger & BitwiseCopyable>(_ type: Word.Type, at address: UInt64) -> Word? {
    bytes(at: address, count: MemoryLayout<Word>.size)?.word(type, at: 0)
  }

  /// The word at a pointer that leads to a structure; nil for a null pointer and where the sum wraps.
  func word<Word: FixedWidthInteger & BitwiseCopyable>(_ type: Word.Type, at pointer: UInt64, _ offset: Int) -> Word? {
    guard pointer != 0, let offset = UInt64(exactly: offset) else { return nil }
    let (address, overflow) = pointer.addingReportingOverflow(offset)
    return overflow ? nil : word(type, at: address)
  }
}

/// Memory of a process, by process_vm_readv(2).
///
/// A read can wait as long as a call of the process does that maps a dataless file, and cannot be killed then (S14):
/// only the capture process reads, and is left behind.
public struct ProcessMemory: CallerMemory {
  private let processID: Int32
  private let mappings: MappingTable

  // LIMIT: bytes of one read; what is wanted at once is far smaller.
  static let bytesMax = 1 << 20

  public init(processID: Int32, mappings: MappingTable) {
    self.processID = processID
    self.mappings = mappings
  }

  public func bytes(at address: UInt64, count: Int) -> [UInt8]? {
    guard count > 0, count <= Self.bytesMax, mappings.isReadable(address, count: count) else { return nil }
    var read = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      read = Int(clinux_read_process_memory(processID, address, buffer.baseAddress, count))
      initialized = max(read, 0)
    }
    return read == count ? bytes : nil
  }

  /// - Returns: nil when nothing could be read. Less than wanted where the process gave back a part meanwhile.
  public func stack(from stackPointer: UInt64) -> StackCopy? {
    guard let range = StackCopy.range(from: stackPointer, in: mappings) else { return nil }
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(range.upperBound - range.lowerBound)) { buffer, initialized in
      let read = Int(clinux_read_process_memory(processID, stackPointer, buffer.baseAddress, buffer.count))
      initialized = min(max(read, 0), Int(range.upperBound - range.lowerBound))
    }
    return bytes.isEmpty ? nil : StackCopy(start: stackPointer, bytes: bytes)
  }
}
