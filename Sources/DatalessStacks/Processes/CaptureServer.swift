internal import Glibc

/// The process that reads callers' memory. It has no /dev/fuse and can hang; then it is left behind.
///
/// One loop over the daemon's socket and those of the symbol processes, which it starts, one for each user. Only the
/// reading itself waits for anybody but them.
public final class CaptureServer {
  /// Starts a symbol process for a user; nil when it cannot be. Without a process of its own in tests.
  public typealias Start = (CallerIdentity) -> (helper: StackHelper?, socket: StackSocket)?

  // LIMIT: how often a thread is looked at that has not fallen asleep yet after its request, and for how long between.
  static let triesMax = 20
  static let pauseMicroseconds: UInt32 = 250

  private let daemon: StackSocket
  private let start: Start
  private var symbols: [CallerIdentity: SymbolProcess] = [:]
  /// Captures that wait for the answer to what an interpreter's file is.
  private var parked: [UInt64: ParkedOrder] = [:]
  private var images = InterpreterImages()
  private let known = KnownCallers()
  private let mounts = MountWatch()
  private var nextIdentification: UInt64 = 1 << 63

  private struct ParkedOrder {
    let number: UInt64
    let order: CaptureOrder
    let key: InterpreterImages.Key
  }

  public init(_ daemon: StackSocket, start: @escaping Start) {
    self.daemon = daemon
    self.start = start
  }

  /// Serves until the daemon goes.
  public func run() {
    while (try? step()) != nil {}
    for process in symbols.values { process.end() }
  }

  private func step() throws(StackSocket.Gone) {
    let busy = symbols.values.filter { $0.socket != nil }
    let timeout = busy.compactMap { $0.millisecondsLeft() }.min()
    let ready = StackSocket.wait(
      [daemon.descriptor] + busy.compactMap { $0.socket?.descriptor }, milliseconds: timeout)
    for (process, isReady) in zip(busy, ready.dropFirst()) {
      try report(isReady ? process.receive() : process.expire())
    }
    if ready[0] {
      let (message, descriptors) = try daemon.receive()
      for descriptor in descriptors { close(descriptor) }
      guard message.kind == .capture, let order = CaptureOrder(message.content) else { throw StackSocket.Gone() }
      guard let order = withVolumes(order) ?? order.throughThread().flatMap({ withVolumes($0) }) else {
        return try answer(message.number, .failure(.unreadable))
      }
      try begin(order, number: message.number)
    }
  }

  private func withVolumes(_ order: CaptureOrder) -> CaptureOrder? {
    volumes(seenBy: order.processID).map { order.adding(volumes: $0) }
  }

  /// nil when that cannot be told.
  private func volumes(seenBy processID: Int32) -> Set<DeviceNumber>? {
    FuseMounts.areOurs(seenBy: processID) ? mounts.devices() : FuseMounts.devices(seenBy: processID)
  }

  private func answer(_ number: UInt64, _ answer: CaptureAnswer) throws(StackSocket.Gone) {
    try daemon.send(StackMessage(.answer, number: number, content: answer.bytes))
  }

  private func process(_ identity: CallerIdentity) -> SymbolProcess {
    if let known = symbols[identity] { return known }
    // LIMIT: users whose callers are explained at once.
    if symbols.count >= 8, let idle = symbols.first(where: { $0.value.isIdle }) {
      idle.value.end()
      symbols[idle.key] = nil
    }
    let process = SymbolProcess { [start] in start(identity) }
    symbols[identity] = process
    return process
  }

  /// - Parameter order: With the volumes that its process sees.
  private func begin(_ order: CaptureOrder, number: UInt64) throws(StackSocket.Gone) {
    try daemon.send(StackMessage(.reading, number: number))
    let (taken, nanoseconds) = take(order)
    if case .success((_, .unknown(let key, let file))) = taken, let identity = CallerIdentity(of: order.processID) {
      try daemon.send(StackMessage(.identifying, number: number))
      let job = nextIdentification
      nextIdentification &+= 1
      parked[job] = ParkedOrder(number: number, order: order, key: key)
      return try report(process(identity).add(.identify(job, file)))
    }
    var time = ByteWriter()
    time.add(nanoseconds)
    try daemon.send(StackMessage(.read, number: number, content: time.bytes))
    switch taken {
    case .success((var capture, .walked(let interpreted))):
      capture.framedCode = interpreted?.framedCode ?? []
      guard let identity = CallerIdentity(of: order.processID) else { return try answer(number, .failure(.threadRan)) }
      let files = known.files(of: order.processID, capture.mappings) {
        identity.reading(otherwise: (files: OpenedFiles(files: [], descriptors: []), isFinal: false)) {
          CallerFiles.open(capture.mappings, of: order.processID)
        }
      }
      // Behind the files: it is there only if the process was, when they were opened.
      let root = identity.reading(otherwise: nil) { CallerRoot(of: order.processID) }
      let job = SymbolProcess.Naming(
        number: number, identity: identity, root: root, capture: capture, interpreted: interpreted, files: files)
      try report(process(identity).add(.symbolize(job)))
    case .success((_, .unknown)): try answer(number, .failure(.threadRan))
    case .failure(let failure): try answer(number, .failure(StackFailure(failure)))
    }
  }

  /// - Returns: And how long the last try took.
  private func take(_ order: CaptureOrder) -> (
    Result<(capture: ThreadCapture, walked: InterpreterImages.Walk), ThreadCapture.Failure>, nanoseconds: UInt64
  ) {
    let volumes = Set(order.volumes)
    var tries = 0
    while true {
      tries += 1
      let start = Self.now
      let result = ThreadCapture.take(
        processID: order.processID, threadID: order.threadID, volumes: volumes, known: known
      ) { mappings, memory, copy in
        images.walk(of: order, mappings, memory: memory, copy: copy) { CallerIdentity(of: order.processID) }
      }
      guard case .failure(.threadRan) = result, tries < Self.triesMax else { return (result, Self.now &- start) }
      usleep(Self.pauseMicroseconds)
    }
  }

  /// CLOCK_MONOTONIC, in nanoseconds.
  private static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(bitPattern: Int64(time.tv_sec)) &* 1_000_000_000 &+ UInt64(bitPattern: Int64(time.tv_nsec))
  }

  /// Passes on what came of a job of a symbol process.
  private func report(_ results: [SymbolProcess.Done]) throws(StackSocket.Gone) {
    for result in results {
      switch result {
      case .identified(let number, let image):
        guard let order = parked.removeValue(forKey: number) else { continue }
        images.remember(order.key, image)
        try begin(order.order, number: order.number)
      case .unidentified(let number):
        guard let order = parked.removeValue(forKey: number) else { continue }
        images.noteFailure(order.key)
        try answer(order.number, .failure(.symbolsUnavailable))
      case .named(let number, let stack): try answer(number, .stack(stack))
      case .failed(let number): try answer(number, .failure(.symbolsUnavailable))
      }
    }
  }
}
