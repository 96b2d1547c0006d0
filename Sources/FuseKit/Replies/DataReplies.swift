internal import CFuse3
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

/// The answer to write and copy_file_range.
public struct WriteReply: FuseReply, ~Copyable {
  let pending: PendingRequest

  init(_ pending: consuming PendingRequest) { self.pending = pending }

  /// Answers with the number of bytes that were written, in all requests but the last of a file equal to those asked.
  @discardableResult
  public consuming func written(_ count: Int) -> Bool {
    var answer = fuse_write_out()
    answer.size = UInt32(clamping: count)
    return pending.send(structure: answer)
  }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}

/// The answer to lseek for data or holes.
public struct SeekReply: FuseReply, ~Copyable {
  let pending: PendingRequest

  init(_ pending: consuming PendingRequest) { self.pending = pending }

  /// Answers with the offset found, 0 or more. There is none: fail with ENXIO.
  @discardableResult
  public consuming func offset(_ offset: Int64) -> Bool {
    var answer = fuse_lseek_out()
    answer.offset = UInt64(bitPattern: offset)
    return pending.send(structure: answer)
  }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}

/// The answer to getxattr and listxattr.
public struct XattrReply: FuseReply, ~Copyable {
  let pending: PendingRequest
  /// Room for the answer in bytes; 0 asks only how much is needed.
  public let size: Int

  init(_ pending: consuming PendingRequest, size: Int) {
    self.pending = pending
    self.size = size
  }

  /// Answers with a value or a list of NUL-terminated names: with its size if the caller asked for that (`size` 0),
  /// with ERANGE if it does not fit.
  @discardableResult
  public consuming func value(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if size == 0 { return pending.send(xattrSize: bytes.count) }
    return bytes.count <= size ? pending.send(bytes) : pending.fail(.outOfRange)
  }

  /// Answers as `value(_:)` with a pointer does.
  @discardableResult
  public consuming func value(_ bytes: [UInt8]) -> Bool {
    if size == 0 { return pending.send(xattrSize: bytes.count) }
    return bytes.count <= size ? pending.send(bytes) : pending.fail(.outOfRange)
  }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}

/// The answer to ioctl.
public struct IoctlReply: FuseReply, ~Copyable {
  let pending: PendingRequest

  init(_ pending: consuming PendingRequest) { self.pending = pending }

  /// Answers with ioctl's return value and the bytes to copy out.
  @discardableResult
  public consuming func result(_ result: Int32, bytes: UnsafeRawBufferPointer) -> Bool {
    pending.send(ioctlResult: result, bytes: bytes)
  }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}
