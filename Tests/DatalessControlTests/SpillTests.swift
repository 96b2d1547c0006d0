import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import DatalessControl

/// What does not fit into memory is in files, and is as it would be in memory.
@Suite struct SpillTests {
  // MARK: Rows

  @Test(arguments: TestSeed.seeds) func rowsAreAsTheyWouldBeInAnArray(seed: UInt64) throws {
    let directory = try SpillDirectory()
    try Fuzz.run("rows in a file", seed: seed, cases: 40) { random, note in
      let limits = SpillLimits.tiny(&random, in: directory.path)
      var (rows, plain) = (SpilledRows<UInt64>(blank: 0, limits: limits), [UInt64]())
      var copies: [(rows: SpilledRows<UInt64>, plain: [UInt64])] = []
      for _ in 0..<400 {
        let (row, value) = (random.below(plain.count), random.next())
        switch random.below(20) {
        case 0: copies.append((rows, plain))
        case 1: _ = copies.popLast()
        case 2 where !(copies.last?.plain.isEmpty ?? true):
          (copies[copies.count - 1].rows[0], copies[copies.count - 1].plain[0]) = (value, value)
        case 3: #expect(Array(rows) == plain, "\(note)")
        case 4..<12:
          rows.append(value)
          plain.append(value)
        default:
          guard !plain.isEmpty else { continue }
          #expect(rows[row] == plain[row], "\(note)")
          (rows[row], plain[row]) = (value, value)
        }
      }
      copies.append((rows, plain))
      for copy in copies {
        #expect(copy.rows.count == copy.plain.count && Array(copy.rows) == copy.plain, "\(note)")
        #expect(copy.plain.indices.allSatisfy { copy.rows[$0] == copy.plain[$0] }, "\(note)")
      }
      #expect(limits.place?.failure == nil, "\(note)")
    }
    #expect(directory.descriptors.isEmpty, "files are closed with their owners")
  }

  // MARK: Numbers

  @Test(arguments: TestSeed.seeds) func numbersAreAsTheyWouldBeInADictionary(seed: UInt64) throws {
    let directory = try SpillDirectory()
    try Fuzz.run("numbers in files", seed: seed, cases: 40) { random, note in
      let limits = SpillLimits.tiny(&random, in: directory.path)
      let keys: [UInt64] = [0, 1, .max, .max - 1] + (0..<60).map { _ in random.next() }
      var (numbers, plain) = (SpilledNumbers(limits: limits), [UInt64: UInt32]())
      var copies: [(numbers: SpilledNumbers, plain: [UInt64: UInt32])] = []
      for _ in 0..<400 {
        let (key, number) = (random.element(of: keys), UInt32(random.below(100)))
        switch random.below(20) {
        case 0: copies.append((numbers, plain))
        case 1: _ = copies.popLast()
        case 2 where !copies.isEmpty:
          (copies[copies.count - 1].numbers[key], copies[copies.count - 1].plain[key]) = (number, number)
        case 3..<8: (numbers[key], plain[key]) = (nil, nil)
        case 8: #expect(numbers.removeValue(forKey: key) == plain.removeValue(forKey: key), "\(note)")
        case 9:
          #expect(numbers.insert(key) == (plain[key] == nil), "\(note)")
          plain[key] = plain[key] ?? 0
        case 10 where random.oneIn(10):
          numbers.removeAll()
          plain = [:]
        default: (numbers[key], plain[key]) = (number, number)
        }
        #expect(numbers[key] == plain[key], "\(note)")
      }
      copies.append((numbers, plain))
      for copy in copies {
        #expect(keys.allSatisfy { copy.numbers[$0] == copy.plain[$0] }, "\(note)")
      }
      #expect(limits.place?.failure == nil, "\(note)")
    }
    #expect(directory.descriptors.isEmpty, "files are closed with their owners")
  }

  /// More of them than there may be blocks and bits: each is found, and what is not there is not.
  @Test func manyNumbersAreFoundAmongFewBlocks() throws {
    let directory = try SpillDirectory()
    var numbers = SpilledNumbers(limits: .tiny(SpillPlace(directories: [directory.path])))
    for key in 0..<3_000 { numbers[UInt64(key) * 2] = UInt32(key) }
    for key in 0..<3_000 {
      #expect(numbers[UInt64(key) * 2] == UInt32(key))
      #expect(numbers[UInt64(key) * 2 + 1] == nil)
    }
    #expect((1...12).contains(directory.descriptors.count), "each file is as large as all after it")
  }

  @Test func nearlyAllKeysThatAreNotThereAreKnownWithoutAFile() {
    var filter = KeyFilter(keys: 10_000, bytesMax: 1 << 20)
    for key in 0..<10_000 as Range<UInt64> { filter.insert(key) }
    #expect((0..<10_000 as Range<UInt64>).allSatisfy { filter.mayHave($0) })
    #expect((10_000..<110_000 as Range<UInt64>).count { filter.mayHave($0) } < 4_000)
    var small = KeyFilter(keys: 10_000, bytesMax: 24)
    small.insert(7)
    #expect(small.mayHave(7))
  }

  // MARK: Former versions

  @Test(arguments: TestSeed.seeds) func whatLeftAPathComesInTheOrderInWhichItDid(seed: UInt64) throws {
    let directory = try SpillDirectory()
    try Fuzz.run("former versions", seed: seed, cases: 20) { random, note in
      var former = FormerVersions(limits: .tiny(&random, in: directory.path))
      var (plain, free) = ([UInt64: [Int]](), Array(0..<40))
      for _ in 0..<300 {
        let path = UInt64(random.below(5))
        if random.oneIn(3), let rows = plain[path], !rows.isEmpty {
          let row = random.element(of: rows)
          former.remove(row, of: path)
          plain[path] = rows.filter { $0 != row }
          free.append(row)
        } else if !free.isEmpty {
          let row = free.remove(at: random.below(free.count))
          former.add(row, of: path)
          plain[path, default: []].append(row)
        }
        var (found, next) = ([Int](), former.newest(of: path))
        while let row = next {
          found.append(row)
          next = former.older(than: row)
        }
        #expect(found == (plain[path] ?? []).reversed(), "\(note)")
      }
    }
  }

  // MARK: Files

  @Test func noFileIsOpenedForWhatFits() throws {
    let directory = try SpillDirectory()
    let place = SpillPlace(directories: [directory.path])
    var rows = SpilledRows<UInt64>(blank: 0, limits: .tiny(place))
    for row in 0..<8 { rows.append(UInt64(row)) }
    var numbers = SpilledNumbers(limits: .tiny(place))
    for key in 0..<6 { numbers[UInt64(key)] = 1 }
    #expect(directory.descriptors.isEmpty)
    rows.append(8)
    #expect(directory.descriptors.count == 1)
    numbers[6] = 1
    #expect(directory.descriptors.count == 2)
    #expect(Array(rows) == Array(0...8) && numbers[0] == 1)
  }

  /// A place that took nothing may take what comes after all was removed.
  @Test func whatIsEmptyIsNotFull() throws {
    let directory = try SpillDirectory()
    let later = directory.path + "/later"
    var numbers = SpilledNumbers(limits: .tiny(SpillPlace(directories: [later])))
    for key in 0..<20 { numbers[UInt64(key)] = 1 }
    #expect(mkdir(later, 0o700) == 0)
    // Before its parent, which goes with its owner.
    defer { withExtendedLifetime(directory) { _ = rmdir(later) } }
    numbers[20] = 1
    #expect(directory.descriptors.isEmpty && numbers[0] == 1)
    numbers.removeAll()
    for key in 0..<20 { numbers[UInt64(key)] = 2 }
    #expect(!directory.descriptors.isEmpty && numbers[0] == 2 && numbers[19] == 2)
  }

  /// Beyond the limit of the process a write would end it.
  @Test func noFileBecomesLargerThanItMay() throws {
    let directory = try SpillDirectory()
    let place = SpillPlace(directories: [directory.path], bytesMax: 10)
    let file = try #require(place.open())
    func isWritten(_ count: Int, at offset: Int) -> Bool {
      [UInt8](repeating: 1, count: count).withUnsafeBytes { file.write($0, at: offset) }
    }
    #expect(isWritten(10, at: 0) && !isWritten(11, at: 0) && !isWritten(1, at: 10) && !isWritten(1, at: .max))
    #expect(place.failure == nil)
  }

  @Test func whatCannotBeReadAgainIsAFailureAndNeverARow() throws {
    let directory = try SpillDirectory()
    let place = SpillPlace(directories: [directory.path])
    var rows = SpilledRows<UInt64>(blank: 77, limits: .tiny(place))
    for _ in 0..<12 { rows.append(1) }
    #expect(rows[0] == 1 && place.failure == nil)
    directory.lose()
    #expect(rows[0] == 77)
    let failure = try #require(place.failure)
    #expect(failure.errno == .ioError && failure.code == .system)
    #expect(failure.message.contains(directory.path) && failure.message.contains("TMPDIR"))
    #expect(Array(rows) == Array(repeating: 77, count: 4) + Array(repeating: 1, count: 8))

    let other = SpillPlace(directories: [directory.path])
    var numbers = SpilledNumbers(limits: .tiny(other))
    for key in 0..<7 { numbers[UInt64(key)] = 1 }
    directory.lose()
    #expect(other.failure == nil)
    #expect(numbers[3] == nil)
    #expect(other.failure != nil)
    // What comes then has a place all the same.
    for key in 0..<50 { numbers[UInt64(key)] = 2 }
    #expect(numbers[49] == 2)
  }
}
