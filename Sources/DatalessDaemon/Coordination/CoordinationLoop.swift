import CDatalessLinux
import DatalessCore
import DequeModule
import Glibc
import Synchronization

/// Serves all who coordinate, on one thread, which waits for nothing but its sockets and its mail.
///
/// What is decided is decided by `AccessOrder`; here is who asks, how long, and what has to be brought here before the
/// answer. The state is the thread's alone: nobody else has it, and there is no lock.
final class CoordinationLoop {
  struct Surroundings: Sendable {
    var engine: Engine
    var processes: ProcessTable
    var log: EventLog
    var timer: any TimerLane
    var makeWaiter: @Sendable () -> WaiterID
    var allowedUserIDs: Set<UInt32>
    /// How many connections there may be at once.
    var clientsMax: Int
  }

  private enum Token {
    static let listener: UInt64 = 0
    static let mail: UInt64 = 1
    static let first: UInt64 = 2
    static let process: UInt64 = 1 << 63
  }

  /// LIMIT: connections at once. Of one process at most three quarters, so that there are some left for others.
  static let clientsMax = 16_384
  /// LIMIT: components of the paths of all intents.
  static let placesMax = 1_200_000
  /// LIMIT: intents that are listed.
  static let listedMax = 1_000
  /// LIMIT: paths that are looked at on this thread; more of them on another one.
  static let ownClaimsMax = 64
  /// LIMIT: times that 256 connections are looked at before a new one of a process that has silent ones.
  private static let readyRoundsMax = 8
  /// LIMIT: connections that are taken in one turn.
  private static let arrivalsMax = 64
  private static let lookInterval = Nanoseconds.seconds(1)

  let surroundings: Surroundings
  let mailbox: CoordinationMailbox
  private let listener: Int32
  private let poll: Int32
  var order = AccessOrder()
  var presenters = Presenters()
  var questions = PresenterQuestions()
  /// By the number under which presenters were asked.
  var announced: [UInt64: Announcement] = [:]
  var clients: [UInt64: CoordinationClient] = [:]
  var byProcess = CoordinationProcesses()
  /// What is still to be read, and how many bytes of it are kept here.
  var turns = RequestTurns()
  var unreadBytes = 0
  private var lastID: UInt64 = 0
  var places = 0
  var totals = CoordinationSnapshot.Totals()
  var waiting = 0
  /// Granted ones of `dataless coordinate`.
  var commandCount = 0
  /// Of the refresh that is under way.
  private var renamesInSource = JoinedRenames()
  /// Messages in the outboxes of all presenters.
  var unread = 0
  /// Held in the order, and not prepared yet.
  var ready = Deque<UInt64>()
  var isPreparing = false
  var buffer = [UInt8](repeating: 0, count: CoordinationHead.bytes + CoordinationHead.inlineMax + 1)
  private var silent = SilentClients()
  /// Connections that were taken before their turn, and have to wait for it.
  private var arrivals = Deque<Int32>()
  var refusals = RefusalRecords()
  private var nextLook = MonotonicTime(nanoseconds: 0)
  /// Where long lists of paths are read, and where what many paths need is looked at: neither waits for the other.
  private(set) lazy var readingLane = makeLane("dl-coord-read")
  private(set) lazy var fetchLane = makeLane("dl-coord-fetch")
  var isEnding = false

  /// - Parameters:
  ///   - listener: Listens; it is closed with this.
  ///   - poll: An epoll descriptor; the same.
  init(_ surroundings: Surroundings, mailbox: CoordinationMailbox, listener: Int32, poll: Int32) {
    self.surroundings = surroundings
    self.mailbox = mailbox
    self.listener = listener
    self.poll = poll
  }

  deinit {
    for arrival in arrivals { close(arrival) }
    close(listener)
    close(poll)
  }

  var now: MonotonicTime { surroundings.timer.now }

  /// Runs until it is told to end.
  func run() {
    _ = clinux_poll_add(poll, listener, CLINUX_POLL_IN, Token.listener)
    _ = clinux_poll_add(poll, mailbox.descriptor, CLINUX_POLL_IN, Token.mail)
    var events = [clinux_poll_event](repeating: clinux_poll_event(), count: 256)
    while !isEnding {
      let count = max(0, clinux_poll_wait(poll, &events, Int32(events.count), timeout))
      // Before it is taken: what comes in between wakes once more, and nothing is left lying.
      for index in 0..<count where events[index].token == Token.mail { mailbox.acknowledge() }
      // Before anything is decided: who has what was renamed.
      readMail()
      // Those that are there before those that come: one process may have asked on both.
      for index in 0..<count { serve(events[index]) }
      let hasCome = !arrivals.isEmpty || events[..<count].contains { $0.token == Token.listener }
      if hasCome, !isEnding { accept() }
      lookAround()
    }
    for mail in mailbox.end() { mail.giveUp() }
  }

  private func serve(_ event: clinux_poll_event) {
    guard !isEnding else { return }
    switch event.token {
    case Token.listener, Token.mail: break
    case let token where token & Token.process != 0:
      for id in byProcess.ended(Int32(truncatingIfNeeded: token & 0xFFFF_FFFF)) { end(id, outcome: "ended") }
    case let token:
      if event.events & CLINUX_POLL_OUT != 0 { sendRest(to: token - Token.first) }
      if event.events & ~CLINUX_POLL_OUT != 0 { receive(from: token - Token.first) }
    }
  }

  /// Serves all on which something is there by now.
  private func serveReady() {
    var events = [clinux_poll_event](repeating: clinux_poll_event(), count: 256)
    for _ in 0..<Self.readyRoundsMax {
      let count = max(0, clinux_poll_wait(poll, &events, Int32(events.count), 0))
      for index in 0..<count { serve(events[index]) }
      if count < events.count { return }
    }
  }

  /// Of an intent, a presenter or an announcement: never used before.
  func makeID() -> UInt64 {
    lastID += 1
    return lastID
  }

  private var timeout: Int32 {
    let at = [silent.next, waiting > 0 ? nextLook : nil, questions.next, refusals.next].compactMap(\.self).min()
    guard let at else { return -1 }
    return Int32(clamping: max(0, (at - now).rawValue / 1_000_000 + 1))
  }

  private func readMail() {
    for mail in mailbox.take() {
      switch mail {
      case .renamed(let from, let to): renamed([(from, to)])
      case .exchanged(let one, let other): renamed([(one, other), (other, one)])
      case .renamedInSource(let from, let to): rename(from, to: to, with: &renamesInSource)
      case .refreshed: renamesInSource = JoinedRenames()
      case .happened(let news, let path): tellPresenters(news, of: path)
      case .read(let id, let result): wasRead(id, result)
      case .prepared(let id, let result): prepared(id, result)
      case .announces(let question, let goOn): announce(question, goOn: goOn)
      case .isOver(let id): announcementIsOver(id)
      case .presented(let tell): tell(presenters)
      case .look(let tell): tell(snapshot())
      case .end: endAll()
      }
    }
  }

  /// What no event tells: clients that say nothing, and processes that are stopped while others wait for them.
  private func lookAround() {
    let now = now
    while let id = silent.takeDue(at: now, isSilent: { clients[$0]?.stage == .silent }) {
      let limit = SilentClients.silenceMax.rawValue / 1_000_000_000
      refuse(id, CoordinationRefusal(.badRequest, "nothing was asked for within \(limit) s"))
    }
    expireQuestions(at: now)
    for event in refusals.take(at: now) { surroundings.log.record(.coordination(event)) }
    guard waiting > 0, now >= nextLook else { return }
    nextLook = now + Self.lookInterval
    for id in byProcess.stopped(at: now, isWaitedFor: { order.isWaitedFor($0) }) {
      totals.takenAway += 1
      let refusal = CoordinationRefusal(
        .takenAway,
        "the process was stopped for \(CoordinationProcesses.stoppedMax.rawValue / 1_000_000_000) s while others waited for it: "
          + "what it does now is coordinated with nobody")
      end(id, refusal)
    }
  }

  // MARK: - Clients

  private func accept() {
    for _ in 0..<Self.arrivalsMax {
      guard let descriptor = arrivals.popFirst() ?? CoordinationSocket.accept(listener) else { return }
      admit(descriptor)
    }
  }

  private func admit(_ descriptor: Int32) {
    let id = makeID()
    let peer = CoordinationSocket.peer(of: descriptor)
    guard let peer, surroundings.allowedUserIDs.contains(peer.user) else {
      return refuse(
        descriptor, as: id, of: peer,
        CoordinationRefusal(.notAllowed, "only the volume's own user and root coordinate accesses on it"))
    }
    guard hasRoom(for: peer.process) else {
      return refuse(
        descriptor, as: id, of: peer,
        CoordinationRefusal(
          .busy,
          "\(clients.count) intents are there, of \(surroundings.clientsMax) and of \(surroundings.clientsMax / 4 * 3) "
            + "of one process. Ask again when some have ended"))
    }
    for gone in byProcess.ended(peer.process) { end(gone, outcome: "ended") }
    let client = CoordinationClient(
      id: id, descriptor: descriptor, pid: peer.process, caller: caller(of: peer), since: now)
    clients[id] = client
    let mayHaveAsked = byProcess.areSilent(of: peer.process)
    if let watched = byProcess.add(id, of: peer.process) {
      _ = clinux_poll_add(poll, watched, CLINUX_POLL_IN, Token.process | UInt64(UInt32(bitPattern: peer.process)))
    }
    silent.add(id, since: client.since)
    // What its process has asked for before, on a connection that it had before.
    if mayHaveAsked { serveReady() }
    _ = clinux_poll_add(poll, descriptor, CLINUX_POLL_IN | CLINUX_POLL_HANGUP, id + Token.first)
    // Its request is there already, as a rule.
    receive(from: id)
  }

  private func hasRoom(for process: Int32) -> Bool {
    clients.count < surroundings.clientsMax && byProcess.count(of: process) < surroundings.clientsMax / 4 * 3
  }

  /// Takes up what was asked for within an intent before that ended, on connections that come after its own.
  func takeWhatIsWithin(_ outer: CoordinationClient) {
    while arrivals.count < Self.arrivalsMax, let arrival = CoordinationSocket.accept(listener) {
      arrivals.append(arrival)
    }
    for id in byProcess.silent(of: outer.pid) {
      if let client = clients[id], CoordinationSocket.peekWithin(client.descriptor) == outer.id { receive(from: id) }
    }
    while hasRoom(for: outer.pid),
      let index = arrivals.firstIndex(where: { arrival in
        CoordinationSocket.peekWithin(arrival) == outer.id
          && CoordinationSocket.peer(of: arrival)?.process == outer.pid
      })
    { admit(arrivals.remove(at: index)) }
  }

  private func refuse(_ descriptor: Int32, as id: UInt64, of peer: clinux_peer?, _ refusal: CoordinationRefusal) {
    totals.refused += 1
    record(refusal, of: id, process: peer?.process ?? 0) { peer.map { caller(of: $0) } }
    CoordinationSocket.send(CoordinationAnswer(refusal, of: 0).encoded, to: descriptor)
    // What is left unread would be told as a reset connection, before the answer.
    _ = CoordinationSocket.receive(descriptor, into: &buffer)
    close(descriptor)
  }

  private func makeLane(_ name: String) -> ThreadBlockingLane {
    ThreadBlockingLane(timer: surroundings.timer, name: name, threads: 1, limit: 2)
  }

  /// Forgets a client, whose descriptor is closed with it.
  func forget(_ client: CoordinationClient, outcome: String, message: String?) {
    clients[client.id] = nil
    byProcess.remove(client.id, of: client.pid)
    client.fetch?.cancel()
    dropUnread(of: client)
    places -= client.request?.places ?? 0
    if client.stage == .waiting { waiting -= 1 }
    if client.isCommand { commandCount -= 1 }
    unread -= client.outbox.count
    if client.stage == .presenting { stopPresenting(client, outcome: outcome, message: message) }
    if clients.isEmpty { mailbox.hasIntents.store(false, ordering: .releasing) }
  }

  /// Has a client looked at when its socket takes more, or not any more.
  func watch(_ client: CoordinationClient, isFull: Bool) {
    let events = CLINUX_POLL_IN | CLINUX_POLL_HANGUP | (isFull ? CLINUX_POLL_OUT : 0)
    _ = clinux_poll_modify(poll, client.descriptor, events, client.id + Token.first)
  }

  private func endAll() {
    isEnding = true
    let refusal = CoordinationRefusal(.volumeEnded, "the volume is being unmounted")
    endAnnouncements()
    for id in clients.keys.sorted() { end(id, refusal) }
    for event in refusals.takeAll() { surroundings.log.record(.coordination(event)) }
  }
}
