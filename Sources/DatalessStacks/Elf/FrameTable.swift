/// Where functions begin and end by a file's unwind tables (`.eh_frame_hdr`, with the entries of `.eh_frame` that it
/// leads to): also of functions whose symbols were stripped. A part of a function that lies elsewhere is one of its
/// own.
///
/// See the Linux Standard Base, "Exception Frames". Only the forms are read that linkers write. Nothing in the file is
/// believed: what does not fit is no function.
struct FrameTable<Source: ByteSource> {
  // LIMIT: functions of one file. A browser has some million.
  static var countMax: UInt32 { 1 << 20 }

  private let elf: ElfFile<Source>
  /// Of the table, by which its entries are told.
  private let address: UInt64
  /// Pairs of where a function begins and where its entry is, both from `address` on: ascending.
  private let entries: [UInt8]

  /// - Returns: nil where there is none, or one of another form.
  init?(_ elf: ElfFile<Source>) {
    let type: UInt32 = 0x6474_e550
    // Version 1; what it says of itself is a 32-bit number, those of the table are from its own address on.
    let forms: [UInt8] = [1, 0x1b, 0x03, 0x3b]
    guard let segment = elf.segments.first(where: { $0.type == type }),
      let header = elf.bytes(atAddress: segment.address, count: 12), header.starts(with: forms),
      let count = header.word(UInt32.self, at: 8), count > 0, count <= Self.countMax,
      let entries = elf.bytes(atAddress: segment.address &+ 12, count: UInt64(count) * 8)
    else { return nil }
    self.elf = elf
    address = segment.address
    self.entries = entries
  }

  /// The function in which an address of the file lies.
  func function(at place: UInt64) -> Range<UInt64>? {
    var (low, high) = (0, entries.count / 8)
    while low < high {
      let middle = (low + high) / 2
      guard let start = number(middle * 8) else { return nil }
      if start <= place { low = middle + 1 } else { high = middle }
    }
    guard low > 0, let start = number((low - 1) * 8), let entry = number((low - 1) * 8 + 4),
      let size = size(of: start, entry: entry), place &- start < size
    else { return nil }
    return start..<start + size
  }

  /// A number of the table, as an address of the file.
  private func number(_ offset: Int) -> UInt64? {
    entries.word(Int32.self, at: UInt64(offset)).map { address &+ UInt64(bitPattern: Int64($0)) }
  }

  /// - Parameter entry: Where it is: length, distance to what entries share, beginning (from there on), size.
  private func size(of start: UInt64, entry: UInt64) -> UInt64? {
    guard let bytes = elf.bytes(atAddress: entry, count: 16), let length = bytes.word(UInt32.self, at: 0),
      length >= 12, length < .max, let begin = bytes.word(Int32.self, at: 8),
      // Of another form, it leads elsewhere.
      entry &+ 8 &+ UInt64(bitPattern: Int64(begin)) == start, let size = bytes.word(UInt32.self, at: 12),
      !start.addingReportingOverflow(UInt64(size)).overflow
    else { return nil }
    return UInt64(size)
  }
}
