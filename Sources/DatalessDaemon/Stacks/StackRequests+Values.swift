import DatalessCore
import DatalessStacks

/// What is asked for, and what comes of it.
extension StackRequests {
  /// A caller that is blocked.
  struct Wait: Sendable, Equatable {
    /// What it waits for.
    enum Cause: Sendable, Hashable {
      case attempt(UInt64, Trigger)
      /// A call on what is local, by its number.
      case access(UInt64, AccessOperation)
    }

    var cause: Cause
    var caller: Caller
    /// Of a delayed call; an attempt's stands in its own record.
    var path: [UInt8] = []
  }

  enum Subject: Sendable, Equatable {
    case wait(Wait)
    /// Of `dataless stack`, by its number.
    case question(UInt64)
  }

  struct Order: Equatable {
    let number: UInt64
    let processID: Int32
    let threadID: Int32
  }

  /// What came of a request.
  struct Done: Equatable {
    let subject: Subject
    let answer: CaptureAnswer
    /// nil for one that was not read.
    var times: Times?
  }

  /// What a stack took.
  struct Times: Sendable, Equatable {
    /// To read the caller's memory, for which it has to be blocked.
    let reading: Nanoseconds
    /// To unwind, and to find names and lines.
    let naming: Nanoseconds
  }

  // LIMIT: requests at once; more are dropped, and each says so.
  static let countMax = 1024
  // LIMIT: captures that are being named: each has 256 KiB in the capture process.
  static let namedAtOnceMax = 32
  // LIMIT: how long reading the memory of a caller may take before its reader is left behind.
  static let readingTime = Nanoseconds.milliseconds(250)
  // LIMIT: how long an answer may take.
  static let namingTime = Nanoseconds.seconds(15)
}
