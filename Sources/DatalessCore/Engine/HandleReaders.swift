/// What was read through one handle, by the process that read: most often one, and the one that opened it. A shell
/// opens what it redirects for another program, and a descriptor can be inherited or passed on.
struct HandleReaders {
  struct Reader {
    let process: ProcessID
    var reads = 0
    var bytesRead: Int64 = 0
    var covered = Coverage()
    /// What the page cache asked for.
    var mapped = Coverage()
    var highWaterMark: Int64 = 0

    mutating func note(_ range: Range<Int64>, isMapped: Bool) {
      reads += 1
      bytesRead += Int64(range.count)
      covered.insert(range)
      if isMapped { mapped.insert(range) }
      highWaterMark = max(highWaterMark, range.upperBound)
    }

    /// - Parameter size: Of the file: what is counted in whole units ends there.
    func summary(size: Int64) -> Event.HandleReads {
      let isFromBeginning = covered.unit == 1 && covered.count == highWaterMark
      return Event.HandleReads(
        reads: reads, bytesRead: bytesRead, coveredBytes: min(covered.count, max(size, 0)), coveredUnit: covered.unit,
        mappedBytes: min(mapped.count, max(size, 0)), highWaterMark: highWaterMark,
        ranges: isFromBeginning ? nil : covered.ranges(upTo: Event.HandleReads.rangesMax))
    }
  }

  // LIMIT: what further processes read through the same handle counts for one that is not known.
  static let processesMax = 16

  private var first: Reader?
  private var others: [Reader] = []
  /// What all of them read, as soon as there are several: kept with each read, because the union of what many have
  /// read, all over a large file, would be long work in one piece when the handle is closed.
  /// One or none, in a list because they are seldom there: the record of every open has room for it.
  private var sum: [Reader] = []

  /// Whether the page cache has read through the handle.
  private(set) var hasMapped = false

  mutating func note(_ process: ProcessID, _ range: Range<Int64>, isMapped: Bool) {
    if isMapped { hasMapped = true }
    guard let known = first?.process else {
      var reader = Reader(process: process)
      reader.note(range, isMapped: isMapped)
      first = reader
      return
    }
    if known == process {
      first?.note(range, isMapped: isMapped)
      if !sum.isEmpty { sum[0].note(range, isMapped: isMapped) }
      return
    }
    if sum.isEmpty, let first { sum = [first] }
    sum[0].note(range, isMapped: isMapped)
    noteOther(process, range, isMapped: isMapped)
  }

  private mutating func noteOther(_ process: ProcessID, _ range: Range<Int64>, isMapped: Bool) {
    if let index = others.firstIndex(where: { $0.process == process }) {
      others[index].note(range, isMapped: isMapped)
    } else if others.count < Self.processesMax - 2 || process == .unknown {
      var reader = Reader(process: process)
      reader.note(range, isMapped: isMapped)
      others.append(reader)
    } else {
      noteOther(.unknown, range, isMapped: isMapped)
    }
  }

  /// What all of them read of a file of `size` bytes.
  func all(size: Int64) -> Event.HandleReads {
    guard let all = sum.first ?? first else {
      return Event.HandleReads(reads: 0, bytesRead: 0, coveredBytes: 0, highWaterMark: 0)
    }
    return all.summary(size: size)
  }

  /// Each of them; empty when the opener alone read, or nobody.
  func others(than opener: ProcessID, size: Int64) -> [Event.HandleClosed.Reader] {
    guard let first, !(others.isEmpty && first.process == opener) else { return [] }
    return ([first] + others).map { Event.HandleClosed.Reader(process: $0.process, reads: $0.summary(size: size)) }
  }
}
