import CDatalessLinux
import DatalessCore
import Glibc
import Synchronization
import SystemPackage

/// Bytes of WRITEs whose answer has to wait: for the content of their file, or for a disk that is not prompt. The
/// kernel's buffer is used for the next request meanwhile.
///
/// As many callers as like may wait at a gate with a MiB each. So what is beyond a limit lies in a file without a name
/// on the cache's disk, where the bytes are to go anyway; if that is full, the WRITE fails with ENOSPC as it would have
/// then.
final class KeptWrites: Sendable {
  /// LIMIT: bytes in memory, of all callers together.
  static let defaultMemoryMax = 64 << 20

  /// LIMIT: the largest WRITE that the kernel sends (`FuseSessionOptions.maxWrite`): what each place in the file has
  /// room for.
  static let placeSize = 1 << 20

  private struct State {
    var memory = 0
    /// -1 until it is needed.
    var file: CInt = -1
    /// Places in the file: how many there were, and which are free.
    var places: Int64 = 0
    var free: [Int64] = []
  }

  private let state = Mutex(State())
  private let directory: CInt
  private let lane: any BlockingLane
  private let memoryMax: Int

  /// - Parameters:
  ///   - directory: A descriptor of this user's own directory on the cache's disk; valid as long as this object.
  ///   - lane: Where places are emptied: who drops the last reference, the timer perhaps, does not wait for a disk.
  ///   - memoryMax: In bytes.
  init(directory: CInt, lane: any BlockingLane, memoryMax: Int = defaultMemoryMax) {
    self.directory = directory
    self.lane = lane
    self.memoryMax = memoryMax
  }

  deinit {
    let file = state.withLock { $0.file }
    if file >= 0 { close(file) }
  }

  /// Copies bytes, into memory or into the file: then on the calling thread, which waits for the disk.
  ///
  /// - Throws: ENOSPC, EDQUOT, EFBIG, EMFILE, EIO: there is no room for them on the cache's disk.
  func keep(_ bytes: UnsafeRawBufferPointer) throws(Errno) -> KeptBytes {
    let isInMemory = state.withLock { state in
      guard bytes.count > Self.placeSize || state.memory <= memoryMax - bytes.count else { return false }
      state.memory += bytes.count
      return true
    }
    if isInMemory { return KeptBytes(self, .memory(Array(bytes))) }
    let (file, place) = try takePlace()
    let kept = KeptBytes(self, .file(file, place: place, count: bytes.count))
    var done = 0
    while done < bytes.count {
      let part = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = pwrite(file, part.baseAddress, part.count, Self.position(of: place) + done)
      if count < 0, errno == EINTR { continue }
      // Given back by the end of `kept`.
      guard count > 0 else { throw count < 0 ? Errno(rawValue: errno) : .noSpace }
      done += count
    }
    return kept
  }

  fileprivate static func position(of place: Int64) -> Int { Int(place) * placeSize }

  /// Bytes in memory, and places of the file in use.
  var use: (memory: Int, places: Int) { state.withLock { ($0.memory, Int($0.places) - $0.free.count) } }

  private func takePlace() throws(Errno) -> (file: CInt, place: Int64) {
    let result: Result<(CInt, Int64), Errno> = state.withLock { state in
      if state.file < 0 {
        let name = "writes"
        let file = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return .failure(Errno(rawValue: errno)) }
        unlinkat(directory, name, 0)
        state.file = file
      }
      if let place = state.free.popLast() { return .success((state.file, place)) }
      state.places += 1
      return .success((state.file, state.places - 1))
    }
    return try result.get()
  }

  fileprivate func giveBack(memory count: Int) { state.withLock { $0.memory -= count } }

  fileprivate func giveBack(_ place: Int64, of file: CInt) {
    lane.submit { [self] in
      // Before it counts as free. A file system that cannot do it has the room taken until the volume ends.
      let punchesHole: CInt = 0x03
      _ = clinux_fallocate(file, punchesHole, Int64(Self.position(of: place)), Int64(Self.placeSize))
      state.withLock { $0.free.append(place) }
    }
  }
}

/// A WRITE whose answer has to wait.
struct KeptWrite: Sendable {
  let bytes: KeptBytes
  let access: WriteAccess
  /// As `WriteRequest.mustBeDurable`.
  let mustBeDurable: Bool
}

/// The bytes of one WRITE, for as long as this object lives.
final class KeptBytes: Sendable {
  fileprivate enum Place {
    case memory([UInt8])
    case file(CInt, place: Int64, count: Int)
  }

  private let owner: KeptWrites
  private let place: Place

  fileprivate init(_ owner: KeptWrites, _ place: Place) {
    self.owner = owner
    self.place = place
  }

  deinit {
    switch place {
    case .memory(let bytes): owner.giveBack(memory: bytes.count)
    case .file(let file, let place, _): owner.giveBack(place, of: file)
    }
  }

  /// How many there are.
  var count: Int {
    switch place {
    case .memory(let bytes): bytes.count
    case .file(_, place: _, let count): count
    }
  }

  /// Calls with the bytes, which are valid until it returns. On a thread that may wait for the cache's disk.
  ///
  /// - Throws: EIO (they cannot be read again), ENOMEM.
  func withBytes<Answer>(_ body: (UnsafeRawBufferPointer) -> Answer) throws(Errno) -> Answer {
    switch place {
    case .memory(let bytes): return bytes.withUnsafeBytes(body)
    case .file(let file, let place, let count):
      guard let buffer = ReadBuffer.current(size: count) else { throw .noMemory }
      var done = 0
      while done < count {
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
        let read = pread(file, part.baseAddress, part.count, KeptWrites.position(of: place) + done)
        if read < 0, errno == EINTR { continue }
        guard read > 0 else { throw .ioError }
        done += read
      }
      return body(UnsafeRawBufferPointer(buffer))
    }
  }
}
