internal import Glibc

/// Which thread to look at.
public struct CaptureOrder: Sendable, Equatable {
  // LIMIT: FUSE mounts that are told; on a machine with more, no stacks are taken rather than one volume touched.
  public static let volumesMax = 4096

  /// By which /proc tells of the process.
  public let processID: Int32
  public let threadID: Int32
  /// The devices of all FUSE mounts: what is mapped from them is neither read nor opened (S15).
  public let volumes: [DeviceNumber]

  public init(processID: Int32, threadID: Int32, volumes: [DeviceNumber]) {
    self.processID = processID
    self.threadID = threadID
    self.volumes = volumes
  }

  func adding(volumes others: Set<DeviceNumber>) -> CaptureOrder {
    CaptureOrder(processID: processID, threadID: threadID, volumes: Array(others.union(volumes)))
  }

  /// The same thread of a process whose first thread has ended: /proc/PID has no memory and no mounts then, and
  /// /proc/TID has those of the thread.
  ///
  /// - Returns: nil if it has no such thread.
  func throughThread() -> CaptureOrder? {
    guard threadID != processID, access("/proc/\(processID)/task/\(threadID)", F_OK) == 0 else { return nil }
    return CaptureOrder(processID: threadID, threadID: threadID, volumes: volumes)
  }

  public var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.add(processID)
    writer.add(threadID)
    writer.addCount(min(volumes.count, Self.volumesMax))
    for volume in volumes.prefix(Self.volumesMax) {
      writer.add(volume.major)
      writer.add(volume.minor)
    }
    return writer.bytes
  }

  /// nil for what is no order.
  public init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    do throws(ByteReader.Malformed) {
      processID = try reader.word(Int32.self)
      threadID = try reader.word(Int32.self)
      var volumes: [DeviceNumber] = []
      for _ in 0..<(try reader.count(limit: Self.volumesMax, size: 8)) {
        volumes.append(DeviceNumber(major: try reader.word(UInt32.self), minor: try reader.word(UInt32.self)))
      }
      self.volumes = volumes
      try reader.end()
    } catch { return nil }
    guard processID > 0, threadID > 0 else { return nil }
  }
}

/// Why there is no stack.
public enum StackFailure: String, Sendable, CaseIterable {
  /// The thread ran while it was looked at, or has gone: what was read is not to be believed.
  case threadRan = "thread_ran"
  /// The kernel does not let this daemon look at the process.
  case permission = "not_permitted"
  /// A thread of the process maps a file of a volume right now; its memory cannot be read before that is answered.
  case memoryLocked = "memory_locked"
  case unreadable = "unreadable"
  /// Reading hung, and was given up.
  case abandoned
  /// What explains the caller's files ended, or took too long.
  case symbolsUnavailable = "symbols_unavailable"
  /// The caller lives in another pid namespace.
  case unknownThread = "unknown_thread"
  /// Too many were waiting to be looked at.
  case dropped
  /// No process could be started for it, or too many hang.
  case noHelper = "no_helper"

  init(_ failure: ThreadCapture.Failure) {
    switch failure {
    case .threadRan: self = .threadRan
    case .permission: self = .permission
    case .memoryLocked: self = .memoryLocked
    case .unreadable: self = .unreadable
    }
  }
}

/// What came of an order.
public enum CaptureAnswer: Sendable, Equatable {
  case stack(NamedStack)
  case failure(StackFailure)

  public var bytes: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .failure(let failure):
      writer.add(UInt8(1))
      writer.add(UInt8(StackFailure.allCases.firstIndex(of: failure) ?? 0))
    case .stack(let stack):
      writer.add(UInt8(0))
      stack.encode(into: &writer)
    }
    return writer.bytes
  }

  /// nil for what is no answer.
  public init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    do throws(ByteReader.Malformed) {
      switch try reader.word(UInt8.self) {
      case 0: self = .stack(try NamedStack(from: &reader))
      case 1:
        let number = Int(try reader.word(UInt8.self))
        guard StackFailure.allCases.indices.contains(number) else { return nil }
        self = .failure(StackFailure.allCases[number])
      default: return nil
      }
      try reader.end()
    } catch { return nil }
  }
}
