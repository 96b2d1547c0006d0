internal import CDatalessLinux
public import DatalessCore
internal import Glibc
internal import SystemPackage

/// What a store has found of an earlier run.
public struct ContentAdoption: Sendable, Equatable {
  /// Content that can be read.
  public internal(set) var contents = 0
  /// Files that an earlier run had begun and not finished; they are gone now.
  public internal(set) var unfinished = 0
  /// Slots whose place in their slab cannot be true.
  public internal(set) var refusedSlots = 0
  /// Names that are no content, or not this user's alone; they are left alone. The first 100.
  public internal(set) var refusedNames: [String] = []
  /// Slabs without their table, and tables without their slab, by their numbers: nothing in them can be read. They are
  /// left alone, so that their places are not given anew while somebody may name them.
  public internal(set) var halfSlabs: [UInt16] = []
  /// The numbers of files among `refusedNames` that have the name of content.
  var refusedFiles: Set<UInt64> = []

  /// Whether content is there, and is not taken over because its file is not this user's alone. Its bytes are not lost.
  public func isRefused(_ id: ContentID) -> Bool {
    guard case .file(let number) = ContentLocation(id) else { return false }
    return refusedFiles.contains(number)
  }

  /// One file that has the name of content, and was refused; nil if there is none.
  public var refusedContent: String? { refusedFiles.min().map(ContentFiles.name) }
}

/// The content directory of an earlier run, looked at once, before anything is made in it. The caller keeps other
/// stores out.
///
/// Somebody may have prepared it. What is taken over is a regular file of this user's, on the directory's own file
/// system, that has one name and that nobody else may open; links of either kind, devices and mount points are refused.
struct FoundContent {
  private(set) var slabs: [Slab?] = []
  private(set) var files: [(number: UInt64, record: FileRecords.Record)] = []
  /// More than that of any file.
  private(set) var nextNumber: UInt64 = 0
  /// Pages on the disk.
  private(set) var pages: Int64 = 0
  private(set) var report = ContentAdoption()

  /// Of an empty directory.
  init() {}

  /// - Parameter isLooking: Whether what an earlier run has not finished stays.
  /// - Throws: EPERM (the directory is another user's, or others can write to it), EACCES, EIO, EMFILE.
  init(in directory: CInt, isLooking: Bool = false) throws(Errno) {
    let home = try FileStatus(of: directory)
    guard home.uid == geteuid(), home.mode & 0o022 == 0 else { throw .notPermitted }
    nextNumber = Self.microseconds
    var names: [[UInt8]] = []
    do throws(DirectoryReader.Failure<Never>) {
      try DirectoryReader.forEach(directory) { (entry) throws(Never) in names.append(entry.nameBytes) }
    } catch {
      switch error {
      case .system(let error): throw error
      }
    }
    var (slabNumbers, tables): (Set<UInt16>, Set<UInt16>) = ([], [])
    for bytes in names {
      switch ContentName(bytes) {
      case .file(let number):
        nextNumber = max(nextNumber, number + 1)
        adoptFile(number, in: directory, home)
      case .part(let number):
        nextNumber = max(nextNumber, number + 1)
        if isLooking || unlinkat(directory, ContentFiles.partName(number), 0) == 0 {
          report.unfinished += 1
        } else {
          refuse(ContentFiles.partName(number))
        }
      case .slab(let number): slabNumbers.insert(number)
      case .table(let number): tables.insert(number)
      case nil: refuse(String(decoding: bytes, as: UTF8.self))
      }
    }
    if let last = slabNumbers.union(tables).max() { slabs = Array(repeating: nil, count: Int(last) + 1) }
    for number in slabNumbers.intersection(tables).sorted() {
      if try !adoptSlab(number, in: directory, home, isLooking: isLooking) { refuse(Slab.name(number)) }
    }
    for number in slabNumbers.symmetricDifference(tables).sorted() {
      let name = slabNumbers.contains(number) ? Slab.name(number) : Slab.tableName(number)
      if let status = try? FileStatus(of: name, in: directory), Self.isOurs(status, home) {
        report.halfSlabs.append(number)
      } else {
        refuse(Slab.name(number))
      }
    }
  }

  private mutating func refuse(_ name: String) {
    if report.refusedNames.count < 100 { report.refusedNames.append(name) }
  }

  private static func isOurs(_ status: FileStatus, _ home: FileStatus) -> Bool {
    status.kind == .file && status.uid == geteuid() && status.linkCount == 1 && status.mode & 0o077 == 0
      && !status.isOnOtherMount(than: home)
  }

  /// Where the numbers of an earlier run end cannot be seen once the last of its files is gone, and a number is never
  /// given twice: so those of this run begin behind the time of day, as long as that does not go back.
  private static var microseconds: UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return UInt64(max(now.tv_sec, 0)) * 1_000_000 + UInt64(now.tv_nsec / 1000)
  }

  private mutating func adoptFile(_ number: UInt64, in directory: CInt, _ home: FileStatus) {
    let name = ContentFiles.name(number)
    guard let status = try? FileStatus(of: name, in: directory), Self.isOurs(status, home) else {
      report.refusedFiles.insert(number)
      return refuse(name)
    }
    let record = FileRecords.Record(size: status.size, pages: (status.blocks + 7) / 8)
    files.append((number, record))
    pages += record.pages
    report.contents += 1
  }

  /// - Returns: False for what is not a slab with its table.
  private mutating func adoptSlab(
    _ number: UInt16, in directory: CInt, _ home: FileStatus, isLooking: Bool
  ) throws(Errno) -> Bool {
    guard let slab = try Self.open(Slab.name(number), in: directory, home, isLooking: isLooking),
      let table = try Self.open(Slab.tableName(number), in: directory, home, isLooking: isLooking)
    else { return false }
    let size = try FileStatus(of: slab.raw).size
    // Of one that was cut off, that which is there: slots that reach beyond its end are refused.
    let capacity = size / ContentLocation.pageSize
    guard capacity <= Int64(Slab.defaultCapacity) else { return false }
    let slots = FoundSlots(try Self.entries(of: table.raw, capacity: Int(capacity)), capacity: UInt32(capacity))
    report.refusedSlots += slots.refused
    report.contents += slots.live
    pages += Int64(slots.livePages)
    slabs[Int(number)] = Slab(number: number, descriptor: slab, table: table, slots)
    return true
  }

  /// nil for what is not ours.
  private static func open(
    _ name: String, in directory: CInt, _ home: FileStatus, isLooking: Bool
  ) throws(Errno) -> OwnedDescriptor? {
    do throws(Errno) {
      let flags = (isLooking ? O_RDONLY : O_RDWR) | CLINUX_O_NONBLOCK
      let file = try SystemCall.openBeneath(directory, Array(name.utf8), flags: flags, crossMounts: false)
      guard isOurs(try FileStatus(of: file.raw), home) else { return nil }
      return .some(consume file)
    } catch {
      if error == .tooManyOpenFiles || error == .tooManyOpenFilesInSystem { throw error }
      return nil
    }
  }

  private static func entries(of table: CInt, capacity: Int) throws(Errno) -> [UInt32] {
    let count = Int(min(try FileStatus(of: table).size / 4, Int64(capacity)))
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count * 4, 1), alignment: 4)
    defer { buffer.deallocate() }
    let bytes = try SystemCall.read(table, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<(count * 4)]), at: 0)
    return (0..<bytes / 4).map { UInt32(littleEndian: buffer.load(fromByteOffset: $0 * 4, as: UInt32.self)) }
  }
}
