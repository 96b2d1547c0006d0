internal import CDatalessLinux
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// The content files of their own: names, and a bounded number of open descriptors.
///
/// A file is written as `<number>.part` and gets its own name, `<number>`, when it is complete. Readers share
/// descriptors from a table with a fixed number of places; a place is taken over by the next file that falls on it, and
/// the file that lost it is closed when its last reader is done.
final class ContentFiles: Sendable {
  /// One open content file, closed with its last user.
  final class Handle: Sendable {
    let number: UInt64
    let descriptor: OwnedDescriptor
    let isWritable: Bool

    init(number: UInt64, descriptor: consuming OwnedDescriptor, isWritable: Bool) {
      self.number = number
      self.descriptor = descriptor
      self.isWritable = isWritable
    }
  }

  private static let creating = O_RDWR | O_CREAT | O_EXCL | CLINUX_O_CLOEXEC | CLINUX_O_NOFOLLOW

  private let directory: CInt
  let records = FileRecords()
  private let table: Mutex<[Handle?]>
  private let places: Int

  /// - Parameter places: The most descriptors kept open, at least 1.
  init(in directory: CInt, places: Int) {
    self.directory = directory
    self.places = places
    table = Mutex(Array(repeating: nil, count: places))
  }

  /// How many descriptors a process with its RLIMIT_NOFILE should keep for content: a quarter, at most 1,024.
  static var defaultPlaces: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 64 }
    return max(8, min(1024, Int(clamping: limit.rlim_cur) / 4))
  }

  var openDescriptors: Int { table.withLock { table in table.count { $0 != nil } } }

  static func name(_ number: UInt64) -> String { "\(number)" }
  static func partName(_ number: UInt64) -> String { "\(number).part" }

  /// Creates the unfinished file of a number.
  func create(_ number: UInt64) throws(Errno) -> OwnedDescriptor { try open(Self.partName(number), Self.creating) }

  /// Creates the empty file of a number, with its name, and keeps its descriptor for whoever is about to write to it.
  func make(_ number: UInt64) throws(Errno) {
    keep(Handle(number: number, descriptor: try open(Self.name(number), Self.creating), isWritable: true))
  }

  /// Gives a finished file its name, and keeps its descriptor for the readers that are about to come.
  func commit(_ handle: Handle) throws(Errno) {
    let number = handle.number
    if renameat(directory, Self.partName(number), directory, Self.name(number)) != 0 { throw Errno(rawValue: errno) }
    keep(handle)
  }

  func discard(_ number: UInt64) { unlinkat(directory, Self.partName(number), 0) }

  func remove(_ number: UInt64) {
    let removed = take(number)
    // Dropped here, outside the lock: closing the last descriptor of an unlinked file frees its blocks.
    unlinkat(directory, Self.name(number), 0)
    _ = consume removed
  }

  /// Closes the descriptor that is kept for readers, if there is one.
  func forget(_ number: UInt64) { _ = take(number) }

  private func take(_ number: UInt64) -> Handle? {
    exchange(at: place(number), for: nil, ifNumber: number)
  }

  /// An open descriptor for reading, shared with other readers.
  func handle(_ number: UInt64) throws(Errno) -> Handle {
    let place = place(number)
    if let open = table.withLock({ $0[place] }), open.number == number { return open }
    let handle = Handle(number: number, descriptor: try openForReading(number), isWritable: false)
    keep(handle)
    return handle
  }

  /// An open descriptor for reading and writing, shared with readers and other writers.
  func writableHandle(_ number: UInt64) throws(Errno) -> Handle {
    let place = place(number)
    if let open = table.withLock({ $0[place] }), open.number == number, open.isWritable { return open }
    let handle = Handle(number: number, descriptor: try openForWriting(number), isWritable: true)
    keep(handle)
    return handle
  }

  /// A descriptor for a transfer into a file that has its name already.
  func openForWriting(_ number: UInt64) throws(Errno) -> OwnedDescriptor { try openAgain(number, O_RDWR) }

  /// A descriptor of its own for the caller.
  func openForReading(_ number: UInt64) throws(Errno) -> OwnedDescriptor { try openAgain(number, O_RDONLY) }

  /// A descriptor of its own that shows what the file takes, and neither reads nor writes.
  func openToLook(_ number: UInt64) throws(Errno) -> OwnedDescriptor { try openAgain(number, CLINUX_O_PATH) }

  private func openAgain(_ number: UInt64, _ mode: CInt) throws(Errno) -> OwnedDescriptor {
    do throws(Errno) {
      return try open(Self.name(number), mode | CLINUX_O_CLOEXEC | CLINUX_O_NOFOLLOW)
    } catch {
      guard error == .tooManyOpenFiles || error == .tooManyOpenFilesInSystem else { throw error }
      // Give up what is only kept for speed, then try once more.
      let dropped = table.withLock { table in
        let all = table
        table = Array(repeating: nil, count: table.count)
        return all
      }
      _ = consume dropped
    }
    return try open(Self.name(number), mode | CLINUX_O_CLOEXEC | CLINUX_O_NOFOLLOW)
  }

  private func open(_ name: String, _ flags: CInt) throws(Errno) -> OwnedDescriptor {
    OwnedDescriptor(CInt(try SystemCall.check(clinux_openat(directory, name, flags, 0o600))))
  }

  private func place(_ number: UInt64) -> Int { Int(number % UInt64(places)) }

  private func keep(_ handle: Handle) {
    // The file that had the place is closed here, after unlocking, unless a reader still uses it.
    _ = exchange(at: place(handle.number), for: handle, ifNumber: nil)
  }

  /// Puts another handle, or none, in a place and returns what was there.
  ///
  /// - Parameter number: If given, the place is left alone unless that file has it.
  private func exchange(at place: Int, for new: Handle?, ifNumber number: UInt64?) -> Handle? {
    table.withLock { table in
      if let number, table[place]?.number != number { return nil }
      defer { table[place] = new }
      return table[place]
    }
  }
}
