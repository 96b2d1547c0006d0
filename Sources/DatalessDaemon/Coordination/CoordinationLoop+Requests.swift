import DatalessCore

/// What clients say, and when that is read.
extension CoordinationLoop {
  /// LIMIT: bytes of paths that wait behind longer requests of their processes.
  private static let unreadBytesMax = 64 << 20

  func receive(from id: UInt64) {
    guard let client = clients[id] else { return }
    switch CoordinationSocket.receive(client.descriptor, into: &buffer) {
    case .nothing: break
    case .gone: gone(client, isTold: false)
    case .message(let message, let memory):
      if memory == nil, message.count == CoordinationHead.bytes, let head = try? CoordinationHead(message) {
        if head.kind == .end { return gone(client, isTold: true) }
        if head.kind == .answer, client.stage == .presenting { return answered(client, about: head.within ?? 0) }
      }
      guard client.stage == .silent else {
        // Nobody listens to it any more.
        if client.stage == .leaving { return }
        let refusal = CoordinationRefusal(.badRequest, "a connection is for one intent: make another one")
        return client.stage == .reading ? refuse(id, refusal) : end(id, refusal)
      }
      byProcess.noteSpoken(id, of: client.pid)
      do throws(CoordinationRefusal) {
        try take(message, memory, from: client)
      } catch {
        refuse(id, error)
      }
    }
  }

  /// A client has ended what it had, or its last descriptor was closed.
  ///
  /// - Parameter isTold: Whether it says so itself: it may have ended by now, but what it had has not ended with it.
  private func gone(_ client: CoordinationClient, isTold: Bool) {
    let isGranted = client.stage == .granted
    if isGranted {
      takeWhatIsWithin(client)
      // It may have been the last of a process that has ended meanwhile.
      guard clients[client.id] != nil else { return }
    }
    if client.stage != .presenting, client.stage != .leaving {
      // Read by copies of the descriptor alone, if there are any.
      let refusal = CoordinationRefusal(.takenAway, "it was ended by a copy of the descriptor, as in a child")
      let kind: CoordinationAnswer.Kind = isGranted ? .takenAway : .answer
      CoordinationSocket.send(CoordinationAnswer(refusal, of: client.id, kind: kind).encoded, to: client.descriptor)
    }
    // The kernel closes what a process has open before it tells that the process has ended.
    if !isTold, byProcess.isEnding(client.pid) { return end(client.id, outcome: "ended") }
    end(client.id, outcome: isGranted || client.stage == .presenting ? "ok" : "cancelled")
  }

  /// Takes up what a client asks for; not before what its process has asked for and is still to be read.
  private func take(
    _ message: ArraySlice<UInt8>, _ memory: RequestMemory?, from client: CoordinationClient
  ) throws(CoordinationRefusal) {
    let head = try CoordinationHead(message)
    let text = message.dropFirst(CoordinationHead.bytes)
    if head.kind != .intent {
      guard memory == nil else { throw CoordinationRefusal(.badRequest, "a presenter's path comes with it") }
      return try present(client, head, text: text)
    }
    // One within another has the place of that one in the order, whatever is asked for before it.
    let comesBehind = head.within == nil && turns.areThere(of: client.pid)
    guard memory != nil || comesBehind else {
      begin(client.id, Result { () throws(CoordinationRefusal) in try head.request(text) })
      return
    }
    guard unreadBytes + text.count <= Self.unreadBytesMax else {
      throw CoordinationRefusal(.busy, "too much is asked for behind long lists of paths. Ask again later")
    }
    client.stage = .reading
    client.unread = UnreadRequest(head: head, text: Array(text), memory: memory)
    unreadBytes += text.count
    turns.add(client.id, of: client.pid, isLong: memory != nil)
    readOn()
  }

  /// Goes on with requests that are still to be read; long ones are read on another thread.
  private func readOn() {
    while let step = turns.next(isThere: { clients[$0] != nil }) {
      switch step {
      case .begin(let id):
        guard let unread = takeUnread(of: id) else { break }
        begin(id, Result { () throws(CoordinationRefusal) in try unread.head.request(unread.text[...]) })
      case .read(let id):
        guard let unread = takeUnread(of: id), let memory = unread.memory else {
          turns.done()
          break
        }
        let head = unread.head
        readingLane.submit { [mailbox] in
          mailbox.post(
            .read(
              id,
              Result { () throws(CoordinationRefusal) in
                try head.request(try CoordinationSocket.read(memory, count: head.memoryBytes)[...])
              }))
        }
      }
    }
  }

  private func takeUnread(of id: UInt64) -> UnreadRequest? {
    guard let client = clients[id], let unread = client.unread else { return nil }
    dropUnread(of: client)
    return unread
  }

  func dropUnread(of client: CoordinationClient) {
    unreadBytes -= client.unread?.text.count ?? 0
    client.unread = nil
  }

  /// A long request was read.
  func wasRead(_ id: UInt64, _ result: Result<CoordinationRequest, CoordinationRefusal>) {
    turns.done()
    // For one that has gone meanwhile nothing is begun.
    receive(from: id)
    begin(id, result)
    readOn()
  }
}
