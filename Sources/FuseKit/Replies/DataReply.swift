public import SystemPackage

/// The answer to read.
public struct DataReply: FuseReply, ~Copyable {
  let pending: PendingRequest
  /// The most bytes the kernel takes.
  public let size: Int

  init(_ pending: consuming PendingRequest, size: Int) {
    self.pending = pending
    self.size = size
  }

  /// Answers with bytes; fewer than `size` mean end of file, except through direct_io. More are cut off.
  ///
  /// The kernel copies them before this returns; no copy is made on the way.
  @discardableResult
  public consuming func data(_ bytes: UnsafeRawBufferPointer) -> Bool {
    pending.send(UnsafeRawBufferPointer(rebasing: bytes.prefix(size)))
  }

  /// Answers with the concatenation of several buffers, at most 1,000 of them and `size` bytes in all.
  @discardableResult
  public consuming func data(parts: [UnsafeRawBufferPointer]) -> Bool { pending.send(parts: parts) }

  /// Answers with bytes of an open file: one pread(2) of up to `size` bytes, then the answer.
  ///
  /// - Parameters:
  ///   - file: Anything pread(2) can read without blocking for long; runs on the calling thread.
  ///   - offset: First byte in `file`, 0 or more.
  /// - Returns: The number of bytes sent; nil if reading failed (the caller got that errno) or the kernel did not take
  ///   the answer.
  @discardableResult
  public consuming func data(of file: FileDescriptor, offset: Int64) -> Int? {
    let size = size
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(size, 1), alignment: 16)
    defer { buffer.deallocate() }
    do {
      let count = try file.read(
        fromAbsoluteOffset: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(size)))
      return pending.send(UnsafeRawBufferPointer(rebasing: buffer.prefix(count))) ? count : nil
    } catch {
      _ = pending.fail(error as? Errno ?? .ioError)
      return nil
    }
  }

  /// Answers with no bytes: end of file.
  @discardableResult
  public consuming func endOfFile() -> Bool { pending.send(UnsafeRawBufferPointer(start: nil, count: 0)) }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}
