import SystemPackage
import TestSupport
import Testing

@testable import DatalessCore

/// What plans of fetches ask for, of any size, with holes, faults and a line: nothing carries it out.
@Suite struct FetchPlanTests {
  /// Bytes on which the file has data, in runs.
  private struct Source {
    let size: Int64
    var runs: [Range<Int64>] = []

    init(_ random: inout TestRandom) {
      size = Int64(random.element(of: [1, 4096, 128 << 10, (128 << 10) + 1, 1 << 20, 40 << 20, 100 << 20]))
      if random.oneIn(3) {
        var start: Int64 = 0
        while start < size, runs.count < 400 {
          start += Int64(random.below(Int(size / 3) + 1))
          guard start < size else { break }
          let end = min(size, start + 1 + Int64(random.below(Int(size / 8) + 1)))
          runs.append(start..<end)
          start = end + 1
        }
      } else {
        runs = [0..<size]
      }
    }

    func data(from offset: Int64) -> Range<Int64>? {
      runs.first { $0.upperBound > offset }.map { max($0.lowerBound, offset)..<$0.upperBound }
    }

    /// Bytes of data in a part of the file.
    func count(_ part: Range<Int64>) -> Int64 { runs.reduce(0) { $0 + Int64($1.clamped(to: part).count) } }
  }

  private static func fault(_ random: inout TestRandom) -> Fault? {
    guard random.oneIn(3) else { return nil }
    return Fault(.errno(.ioError), after: .fraction(Double(random.below(101)) / 100))
  }

  private static func chunk(_ random: inout TestRandom) -> Int64? {
    random.oneIn(2) ? nil : Int64(1 + random.below(1 << 20))
  }

  @Test(arguments: TestSeed.seeds) func aWholeFileComesOnceAndInOrder(seed: UInt64) {
    var random = TestRandom(seed: seed)
    for _ in 0..<200 {
      let source = Source(&random)
      let fault = Self.fault(&random)
      let chunk = source.size > 8 << 20 ? nil : Self.chunk(&random).map { max($0, 4096) }
      let hasDescriptor = random.oneIn(2)
      let clones = random.oneIn(4)
      var plan = FileFetchPlan(size: source.size, fault: fault)
      let end = fault?.failingOffset(size: source.size) ?? source.size
      var (position, carried, copied, inStep): (Int64, Int64, Int64, Int64) = (0, 0, 0, 0)
      var (isOpen, hasRoom, isChecked, isCommitted, isCloned) = (false, false, false, false, false)
      var read: Range<Int64>?
      func copies(_ run: Range<Int64>) {
        #expect(run.lowerBound >= position && run.upperBound <= end && hasRoom, "seed \(seed)")
        position = run.upperBound
        copied += Int64(run.count)
        inStep += Int64(run.count)
        #expect(inStep <= 64 << 20, "one step keeps the lane from others, seed \(seed)")
      }
      steps: while true {
        switch plan.next(chunk: chunk) {
        case .carry(let bytes):
          #expect(chunk != nil && bytes > 0)
          carried += bytes
          inStep = 0
        case .makeWay: inStep = 0
        case .store(.open):
          #expect(chunk == nil || carried > 0, "opened before its bytes could come, seed \(seed)")
          // A few times there is no descriptor left.
          if random.oneIn(3) {
            let begins = plan.tryAgain()
            #expect(begins)
            continue
          }
          isOpen = true
          plan.opened(hasDescriptor: hasDescriptor)
        case .store(.findData(let offset)):
          let begins = plan.tryAgain()
          #expect(isOpen && !begins, "begins again when something may be written, seed \(seed)")
          plan.found(source.data(from: offset))
        case .store(.read(let range)): read = range
        case .store(.verify):
          #expect(isCloned || copied == source.count(0..<end), "checked before all was read, seed \(seed)")
          isChecked = true
        case .local(.makeRoom): hasRoom = true
        case .local(.clone):
          #expect(hasDescriptor && fault == nil && chunk == nil && copied == 0, "seed \(seed)")
          if clones {
            plan.cloned()
            isCloned = true
          }
        case .local(.copy(let run)):
          #expect(hasDescriptor)
          copies(run)
        case .local(.write(let run)):
          #expect(read == run, "what is written was not read just before, seed \(seed)")
          copies(run)
        case .local(.commit):
          #expect(isChecked, "committed without a second look at the version, seed \(seed)")
          isCommitted = true
        case .end(let isPlanned):
          let isExpected = fault != nil && (fault?.failingOffset(size: source.size) != nil)
          #expect(isPlanned == isExpected && isCommitted == !isPlanned, "seed \(seed)")
          break steps
        }
      }
      #expect(chunk == nil || carried >= copied, "more came than the line carried, seed \(seed)")
      #expect(isCloned || copied == source.count(0..<end), "seed \(seed)")
    }
  }

  @Test(arguments: TestSeed.seeds) func rangesAreToldOnceAfterTheyWereChecked(seed: UInt64) {
    var random = TestRandom(seed: seed)
    for _ in 0..<200 {
      let source = Source(&random)
      let fault = Self.fault(&random)
      let chunk = source.size > 8 << 20 ? nil : Self.chunk(&random).map { max($0, 4096) }
      var missing = ByteRangeSet()
      for _ in 0...random.below(4) {
        let start = Int64(random.below(Int(source.size)))
        missing.insert(start..<min(source.size, start + 1 + Int64(random.below(Int(source.size)))))
      }
      let wanted = missing.missing(in: 0..<source.size, limit: 100)
      var plan = RangeFetchPlan(fault: fault)
      let total = wanted.reduce(0) { $0 + Int64($1.count) }
      let limit = fault?.failingOffset(size: total)
      var told = ByteRangeSet()
      var (carried, written): (Int64, Int64) = (0, 0)
      var (read, isChecked, isWritten): (Range<Int64>?, Bool, Bool) = (nil, false, false)
      steps: while true {
        switch plan.next(chunk: chunk) {
        case .carry(let bytes): carried += bytes
        case .makeWay: break
        case .store(.open): plan.opened(hasDescriptor: false)
        case .store(.findData(let offset)): plan.found(source.data(from: offset))
        case .store(.read(let range)): (read, isChecked, isWritten) = (range, false, false)
        case .store(.verify): isChecked = true
        case .local(.findMissing): plan.begin(wanted)
        case .local(.write(let piece)):
          #expect(read == piece && isChecked && piece.count <= 1 << 20, "seed \(seed)")
          isWritten = true
          written += Int64(piece.count)
        case .local(.tell(let piece)):
          #expect(isChecked && (isWritten || source.count(piece) == 0), "told before it was there, seed \(seed)")
          #expect(told.missing(in: piece, limit: 1) == [piece], "told twice, seed \(seed)")
          told.insert(piece)
          (read, isChecked, isWritten) = (nil, false, false)
        case .end(let isPlanned):
          #expect(isPlanned == (limit != nil), "seed \(seed)")
          break steps
        }
      }
      #expect(plan.total == total && plan.done == limit ?? total, "seed \(seed)")
      #expect(chunk == nil || carried >= written, "seed \(seed)")
      for range in wanted where limit == nil { #expect(told.contains(range), "seed \(seed)") }
      if limit != nil { #expect(total == 0 || told.count < total, "what fails must not be complete, seed \(seed)") }
    }
  }

  @Test func aStepOfASparseFileEnds() {
    var plan = FileFetchPlan(size: 1 << 30, fault: nil)
    var runs = 0
    while true {
      switch plan.next(chunk: nil) {
      case .store(.open): plan.opened(hasDescriptor: true)
      case .store(.findData(let offset)): plan.found(offset + 4096..<offset + 4097)
      case .local(.write): runs += 1
      case .makeWay:
        #expect(runs == 256)
        return
      case .store(.read), .local: break
      case .carry, .end, .store: Issue.record("the lane is kept")
      }
    }
  }
}
