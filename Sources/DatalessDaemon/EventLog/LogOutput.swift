import DatalessControl
import Glibc
import SystemPackage

/// The log file. Appends bytes, and takes back what a failure left of a line.
struct LogOutput {
  /// What became of bytes given to `write`.
  struct Result {
    /// Bytes at the front that need not be given again.
    var consumed: Int
    /// nil when everything was written.
    var failure: Errno?
  }

  private let descriptor: Int32
  // A torn line that could not be taken back stands at the end of the file.
  private var needsNewline = false

  /// Takes over the descriptor, which is open with O_APPEND. If the file ends in the middle of a line, as after a power
  /// cut, the first write ends that line first.
  init(descriptor: Int32) {
    self.descriptor = descriptor
    let size = lseek(descriptor, 0, SEEK_END)
    var last: UInt8 = 0
    if size > 0, pread(descriptor, &last, 1, size - 1) == 1, last != UInt8(ascii: "\n") { needsNewline = true }
  }

  /// Writes lines.
  ///
  /// - Returns: when the disk failed, `consumed` is a whole number of lines: a torn one has been cut off again. Only on
  ///   something that is not a file, such as a pipe, it may end within a line, which the next call has to go on with.
  mutating func write(_ bytes: ArraySlice<UInt8>) -> Result {
    if needsNewline {
      let (count, failure) = DescriptorWrite.all([UInt8(ascii: "\n")], to: descriptor)
      if count == 0 { return Result(consumed: 0, failure: failure) }
      needsNewline = false
    }
    let (count, failure) = DescriptorWrite.all(bytes, to: descriptor)
    guard let failure else { return Result(consumed: count, failure: nil) }
    let whole = bytes.prefix(count).lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 - bytes.startIndex } ?? 0
    if whole == count { return Result(consumed: count, failure: failure) }
    // With O_APPEND the position is the end of what we wrote last: if it is the end of the file too, the piece is ours
    // to cut. Somebody else may append to the same file.
    let position = lseek(descriptor, 0, SEEK_CUR)
    guard position >= 0 else { return Result(consumed: count, failure: failure) }
    let isCut = lseek(descriptor, 0, SEEK_END) == position && ftruncate(descriptor, position - (count - whole)) == 0
    if !isCut { needsNewline = true }
    return Result(consumed: whole, failure: failure)
  }

  func close() { _ = Glibc.close(descriptor) }
}
