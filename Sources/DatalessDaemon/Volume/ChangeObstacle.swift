import DatalessCore
import FuseKit
import SystemPackage

/// What has to happen before a change can be made.
enum ChangeObstacle: Sendable {
  /// The directory is to be listed.
  case listing(NodeID)
  /// Whether the directory, which is to go, is empty has to be known; how long the call may wait for that.
  case emptiness(NodeID, limit: Nanoseconds)
  /// The content of the file is to be here; for what, as records have it.
  case content(NodeID, Trigger)
  /// What was decided before is to be durable.
  case durability(ChangeNumber)
  /// It belongs on the content store's lane (`ChangeThread.content`).
  case contentLane
  /// There is to be room for so many bytes of content.
  case room(Int64)
}

/// Where a change is made.
enum ChangeThread: Sendable {
  /// On the request's own thread, which may also do a short fetch.
  case request
  /// Where what it waited for came to an end.
  case completing
  /// On the lane whose calls may wait for the content store's disk, each time.
  case content
}

/// A reply that could not be given yet.
struct UnansweredChange<Reply: FuseReply & ~Copyable>: ~Copyable {
  let reply: Reply
  let obstacle: ChangeObstacle
}

/// Changes that cannot be made at once: their replies are parked, and they are decided again. Nothing is changed before
/// the answer that says so.
extension FilesystemAdapter {
  /// Makes a change and answers.
  ///
  /// - Parameters:
  ///   - name: What is made, moved or removed, for the record of a listing that has to come first.
  ///   - thread: Where it is made.
  ///   - attempt: Answers, or gives the reply back with what is in the way. Called here, or on the completing lane.
  func change<Reply: FuseReply & ~Copyable>(
    _ reply: consuming Reply, by caller: Caller, name: [UInt8]? = nil, on thread: ChangeThread = .request,
    attempt: @escaping @Sendable (consuming Reply) -> UnansweredChange<Reply>?
  ) {
    guard let left = attempt(reply) else { return }
    wait(for: left, by: caller, name: name, on: thread, attempt: attempt)
  }

  /// Answers a change that was tried already.
  func wait<Reply: FuseReply & ~Copyable>(
    for left: consuming UnansweredChange<Reply>, by caller: Caller, name: [UInt8]? = nil,
    on thread: ChangeThread = .request,
    attempt: @escaping @Sendable (consuming Reply) -> UnansweredChange<Reply>?
  ) {
    let obstacle = left.obstacle
    let reply = left.reply
    let mayFetch = thread == .request
    let again: @Sendable (consuming Reply) -> Void = { [self] reply in
      guard thread == .content else {
        return change(reply, by: caller, name: name, on: .completing, attempt: attempt)
      }
      // Whoever has completed the wait may be a request thread.
      onContentLane(reply) { [self] reply in
        change(reply, by: caller, name: name, on: .content, attempt: attempt)
      }
    }
    switch obstacle {
    case .listing(let directory):
      let request = TriggerRequest(trigger: .lookup, caller: withPolicy(withThreadName(caller)), name: name)
      park(FuseNode(directory), request: request, reply: reply, mayFetch: mayFetch, isChange: true) { reply in
        again(reply)
        return nil
      }
    case .emptiness(let directory, let limit):
      let request = TriggerRequest(trigger: .lookup, caller: withPolicy(withThreadName(caller)), name: name)
      park(FuseNode(directory), request: request, reply: reply, mayFetch: mayFetch, isChange: true, limit: limit) {
        reply in
        again(reply)
        return nil
      }
    case .content(let file, let trigger):
      let request = TriggerRequest(trigger: trigger, caller: withPolicy(withThreadName(caller)))
      park(FuseNode(file), request: request, reply: reply, mayFetch: mayFetch, isChange: true) { reply in
        again(reply)
        return nil
      }
    case .room(let bytes):
      let box = ParkedReply(reply)
      engine.waitForRoom(bytes, threadID: caller.threadID, waiter: makeWaiter(for: box)) { error in
        guard let reply = box.take() else { return }
        if let error { reply.fail(Self.answerableChange(error.errno)) } else { again(reply) }
      }
    case .durability(let number):
      let box = ParkedReply(reply)
      engine.whenDurable(number) { error in
        guard let reply = box.take() else { return }
        if let error { reply.fail(Self.answerableChange(error.errno)) } else { again(reply) }
      }
    case .contentLane: again(reply)
    }
  }

  /// LIMIT: bytes of content that a request thread gives room, takes it from, or zeroes: of the whole of a large file a
  /// disk has much to do.
  static let promptBytes: Int64 = 16 << 20

  /// Goes on at once where the content store is prompt, and not much of it changes; else where calls may wait for its
  /// disk.
  ///
  /// - Parameters:
  ///   - bytes: How many are given room, taken away or zeroed.
  ///   - body: Called with the thread that it is on.
  func whereContentMoves<Reply: FuseReply & ~Copyable>(
    _ reply: consuming Reply, bytes: Int64, _ body: @escaping @Sendable (consuming Reply, ChangeThread) -> Void
  ) {
    if engine.writesPromptly, bytes <= Self.promptBytes { return body(reply, .request) }
    onContentLane(reply) { body($0, .content) }
  }

  func onContentLane<Reply: FuseReply & ~Copyable>(
    _ reply: consuming Reply, _ body: @escaping @Sendable (consuming Reply) -> Void
  ) {
    let box = ParkedReply(reply)
    contentLane.submit { if let reply = box.take() { body(reply) } }
  }

  /// ENOSYS to a change is remembered by the kernel for most of them, as "not supported on this volume" or as success.
  static func answerableChange(_ errno: Errno) -> Errno { errno == .noFunction ? .notSupportedOnSocket : errno }
}
