import DatalessCore
import Glibc

/// Looks into /proc for who has a file of the volume open, and whether who writes to it holds a lock.
///
/// Not in /proc/locks: while that is read nobody on the machine takes or gives back a lock, so it would have to be read
/// later, when the write is over and its lock may be gone. What a process has locked stands in the `fdinfo` of its own
/// descriptors as well, and that is read while the write is under way. On a request thread: nothing here waits
/// (docs/ARCHITECTURE.md, R7).
struct FileHolders: HolderProbe {
  // LIMIT: descriptors of one process that are looked at.
  private static let descriptorsMax = 1_024

  let processes: ProcessTable
  /// Where callers see the volume.
  let mountpoint: [UInt8]

  /// What the descriptors of a process show.
  private struct Sight {
    var hasFile = false
    /// On the file itself, and on whichever file of the volume.
    var locksFile = false
    var locksAny = false
    /// Why there may be more; nil: that is all.
    var problem: LockSight.Reason?
  }

  func look(at write: SharedWrite) -> SharedWrite.Answer {
    let writer = processes.caller(threadID: write.threadID, uid: write.opener.uid, gid: write.opener.gid)
    let paths = Set(write.names.map { mountpoint + [UInt8(ascii: "/")] + $0 })
    var other: (process: ProcessID, writes: Bool)?
    var (isAlone, locksFile) = (true, false)
    for opener in write.others {
      let holder = self.holder(opener)
      if let pid = holder?.pid, pid == writer.pid { continue }
      isAlone = false
      guard let holder, let pid = holder.pid, other == nil || !locksFile else { continue }
      let sight = self.sight(of: pid, paths)
      // Its descriptor may have been inherited by another one, and be closed here.
      guard sight.hasFile else { continue }
      if other == nil { other = (holder.id, opener.writes) }
      if sight.locksFile { locksFile = true }
    }
    guard !isAlone else { return .alone }
    return .together(
      SharedWrite.Together(
        writer: writer, other: other?.process ?? .unknown, otherWrites: other?.writes ?? false,
        lock: locksFile ? .held : self.lock(of: writer, paths, isOtherKnown: other != nil)))
  }

  private func lock(of writer: Caller, _ paths: Set<[UInt8]>, isOtherKnown: Bool) -> LockSight {
    guard writer.pid > 0 else { return .unknown(.elsewhere) }
    let sight = self.sight(of: writer.pid, paths)
    if sight.locksAny { return .held }
    if let problem = sight.problem { return .unknown(problem) }
    // It writes to the file, so it has it open: under a path that is another one here.
    guard sight.hasFile else { return .unknown(.elsewhere) }
    return isOtherKnown ? .free : .unknown(.otherUnknown)
  }

  /// The process that has opened a file, as it is now: it may have executed another program since.
  private func holder(_ opener: SharedWrite.Opener) -> ProcessRecord? {
    if opener.process != .unknown {
      guard let pid = processes.info(opener.process)?.pid else { return nil }
      return processes.inspect(pid)?.record
    }
    return opener.threadID > 0 ? processes.inspect(opener.threadID)?.record : nil
  }

  private func sight(of pid: Int32, _ paths: Set<[UInt8]>) -> Sight {
    var sight = Sight()
    var failure: Int32 = 0
    // All threads share the descriptors, but the process' own list is empty once its first thread has ended.
    let thread = LivingThread.of(pid)
    let descriptors = ProcReader.descriptors(thread, limit: Self.descriptorsMax + 1, failure: &failure)
    if failure != 0 { sight.problem = .notPermitted }
    if descriptors.count > Self.descriptorsMax { sight.problem = .tooMany }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4_096) { buffer in
      for descriptor in descriptors.prefix(Self.descriptorsMax) {
        let length = ProcReader.readDescriptor(thread, descriptor, into: buffer)
        guard length > mountpoint.count, length < buffer.count else { continue }
        let path = buffer[..<length]
        guard path.starts(with: mountpoint), path[mountpoint.count] == UInt8(ascii: "/") else { continue }
        let isFile = paths.contains(Array(path))
        if isFile { sight.hasFile = true }
        let count = ProcReader.readDescriptorInfo(thread, descriptor, into: buffer)
        guard count > 0, Self.hasLock(UnsafeBufferPointer(rebasing: buffer[..<count])) else { continue }
        sight.locksAny = true
        if isFile { sight.locksFile = true }
      }
    }
    return sight
  }

  /// Whether a descriptor holds a lock of fcntl(2), of an open file description, or of flock(2).
  ///
  /// - Parameter text: Of fdinfo: `lock:\t1: POSIX  ADVISORY  WRITE 4711 00:35:12 0 EOF`.
  static func hasLock(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    text.split(separator: UInt8(ascii: "\n")).contains { line in
      let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      guard words.count > 2, words[0].elementsEqual("lock:".utf8) else { return false }
      return ["POSIX", "OFDLCK", "FLOCK"].contains { words[2].elementsEqual($0.utf8) }
    }
  }
}
