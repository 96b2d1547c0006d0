internal import Glibc

/// A symbol process as the capture process sees it: one job at a time, in their order, with a limit of time.
///
/// It is sent something only when it waits for something, so neither can block the other. What it says is foreign: one
/// wrong word, and it is ended.
final class SymbolProcess {
  /// A capture that is to be named.
  struct Naming {
    let number: UInt64
    let identity: CallerIdentity
    /// Of the process; nil when it had gone before its files were to be opened, or may not be looked at.
    let root: CallerRoot?
    let capture: ThreadCapture
    let interpreted: InterpretedWalk?
    let files: OpenedFiles
  }

  enum Job {
    /// One file.
    case identify(UInt64, OpenedFiles)
    case symbolize(Naming)

    var descriptors: [Int32] {
      switch self {
      case .identify(_, let files): files.descriptors
      case .symbolize(let naming): naming.files.descriptors
      }
    }
  }

  enum Done {
    case identified(UInt64, InterpreterImage?)
    /// It has not come to an end: what the file is nobody knows.
    case unidentified(UInt64)
    case named(UInt64, NamedStack)
    case failed(UInt64)
  }

  // LIMIT: time of one job. The first stack of a program with a gigabyte of debug information takes some seconds.
  static let jobMilliseconds: Int64 = 10_000
  /// For how long it takes only what processor time nobody else wants: others are to notice nothing of it, and it is to
  /// come to an end all the same where everybody wants it.
  static let quietMilliseconds: Int64 = 200
  // LIMIT: jobs that wait. Their captures have 256 KiB each.
  static let waitingMax = 64
  // LIMIT: ends without an answer, one after the other, after which nothing is asked any more.
  static let failuresMax = 8

  private let start: () -> (helper: StackHelper?, socket: StackSocket)?
  private(set) var socket: StackSocket?
  private var helper: StackHelper?
  private var current: (job: Job, deadline: Int64)?
  /// When it stops standing back; nil while it does not.
  private var hurryAt: Int64?
  private var waiting: [Job] = []
  private var failures = 0

  init(start: @escaping () -> (helper: StackHelper?, socket: StackSocket)?) { self.start = start }

  var isIdle: Bool { current == nil }

  func end() {
    socket = nil
    // It is left behind if it does not go at once: nothing of it is waited for.
    helper?.end()
    _ = helper?.isGone()
    helper = nil
    hurryAt = nil
  }

  /// nil while it does nothing.
  func millisecondsLeft() -> Int32? {
    current.map { Int32(clamping: max(0, min($0.deadline, hurryAt ?? .max) - Self.now)) }
  }

  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  func add(_ job: Job) -> [Done] {
    guard waiting.count < Self.waitingMax, failures < Self.failuresMax else { return [failed(job)] }
    waiting.append(job)
    return next()
  }

  /// Starts the next job, if none is under way.
  private func next() -> [Done] {
    var done: [Done] = []
    while current == nil, !waiting.isEmpty {
      let job = waiting.removeFirst()
      if failures < Self.failuresMax, send(job) {
        current = (job, Self.now + Self.jobMilliseconds)
        schedule(job)
      } else {
        fail()
        done.append(failed(job))
      }
    }
    return done
  }

  private func schedule(_ job: Job) {
    switch job {
    case .identify:
      // The caller's memory is read when it is done, for which the caller still has to be blocked.
      helper?.hurry()
      hurryAt = nil
    case .symbolize:
      if hurryAt == nil { helper?.standBack() }
      hurryAt = Self.now + Self.quietMilliseconds
    }
  }

  private func send(_ job: Job) -> Bool {
    if socket == nil {
      guard let (helper, socket) = start() else { return false }
      (self.helper, self.socket) = (helper, socket)
    }
    let message =
      switch job {
      case .identify(let number, _): StackMessage(.identify, number: number)
      case .symbolize(let naming):
        StackMessage(
          .symbolize, number: naming.number,
          content: SymbolOrder(capture: naming.capture, files: naming.files.files).bytes)
      }
    return (try? socket?.send(message, descriptors: job.descriptors)) != nil
  }

  private func failed(_ job: Job) -> Done {
    switch job {
    case .identify(let number, _): return .unidentified(number)
    case .symbolize(let naming): return .failed(naming.number)
    }
  }

  /// It has gone wrong.
  private func fail() {
    failures += 1
    end()
  }

  /// The time of the current job may be over.
  func expire() -> [Done] {
    guard let current else { return [] }
    if let time = hurryAt, time <= Self.now {
      helper?.hurry()
      hurryAt = nil
    }
    return current.deadline <= Self.now ? giveUp() : []
  }

  private func giveUp() -> [Done] {
    fail()
    guard let (job, _) = current else { return next() }
    current = nil
    return [failed(job)] + next()
  }

  /// Takes one message, which is there already or its end is.
  func receive() -> [Done] {
    guard let (message, descriptors) = try? socket?.receive() else { return giveUp() }
    for descriptor in descriptors { close(descriptor) }
    guard let (job, _) = current else { return giveUp() }
    switch (message.kind, job) {
    case (.identity, .identify(let number, _)):
      guard message.number == number, let identity = InterpreterIdentity(message.content) else { return giveUp() }
      return finish(.identified(number, identity.image))
    case (.named, .symbolize(let naming)):
      var reader = ByteReader(message.content)
      guard message.number == naming.number, var stack = try? NamedStack(from: &reader), reader.isAtEnd,
        stack.interpreted == nil
      else { return giveUp() }
      stack.interpreted = naming.interpreted?.stack(with: stack)
      if naming.root == nil { Self.sayWhatIsMissing(in: &stack, of: naming) }
      // Nobody else's business where the caller's frames lie.
      for index in stack.frames.indices { stack.frames[index].framePointer = 0 }
      return finish(.named(naming.number, stack))
    case (.findDebugFile, .symbolize(let naming)):
      guard message.number == naming.number, let question = DebugFileQuestion(message.content) else { return giveUp() }
      return answer(question, naming) ? [] : giveUp()
    default: return giveUp()
    }
  }

  /// Of a process whose files could not all be opened: frames in the others have addresses alone. A file that was, and
  /// has no symbol for a frame, lacks nothing.
  private static func sayWhatIsMissing(in stack: inout NamedStack, of naming: Naming) {
    guard stack.problem.isEmpty else { return }
    let files = naming.files.files
    let unopened = naming.capture.mappings.mappings.filter { mapping in
      mapping.isExecutable && mapping.isFile
        && !files.contains(SymbolOrder.File(device: mapping.device, inode: mapping.inode))
    }
    let isMissing = stack.frames.contains { frame in
      frame.symbol.isEmpty && unopened.contains { $0.path == frame.module }
    }
    guard isMissing else { return }
    stack.problem = Array("the process had gone before its files were looked at, or may not be looked at".utf8)
  }

  private func finish(_ done: Done) -> [Done] {
    failures = 0
    current = nil
    return [done] + next()
  }

  private func answer(_ question: DebugFileQuestion, _ naming: Naming) -> Bool {
    let mapping = naming.capture.mappings.mappings.first {
      $0.isFile && $0.device == question.file.device && $0.inode == question.file.inode
    }
    var descriptor: Int32?
    if let mapping, let root = naming.root {
      descriptor = naming.identity.reading(otherwise: nil) {
        CallerFiles.openDebugFile(question, mapping.path, below: root)
      }
    }
    defer { if let descriptor { close(descriptor) } }
    let message = StackMessage(.debugFile, number: naming.number, content: naming.root == nil ? [1] : [])
    return (try? socket?.send(message, descriptors: descriptor.map { [$0] } ?? [])) != nil
  }
}
