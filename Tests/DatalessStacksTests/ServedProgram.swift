import Glibc

@testable import DatalessStacks

/// The capture process and its symbol processes as threads of the test, without their sandbox.
final class ServedStacks {
  let daemon: StackSocket
  private var number: UInt64 = 0

  /// - Parameter symbols: What a symbol process does with its socket.
  init(symbols: @escaping @Sendable (StackSocket) -> Void = { SymbolServer.run($0) { true } }) throws {
    guard let (daemon, capture) = StackSocket.pair() else { throw BlockedProgram.Failure(what: "socketpair") }
    self.daemon = daemon
    Self.thread(capture) { socket in
      CaptureServer(socket) { _ in
        guard let (own, its) = StackSocket.pair() else { return nil }
        Self.thread(its, symbols)
        return (helper: nil, socket: own)
      }.run()
    }
  }

  static func thread(_ socket: StackSocket, _ body: @escaping @Sendable (StackSocket) -> Void) {
    let start = Unmanaged.passRetained(Body { body(socket) })
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      {
        Unmanaged<Body>.fromOpaque($0!).takeRetainedValue().run()
        return nil
      }, start.toOpaque())
    pthread_detach(thread)
  }

  private final class Body {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  func stack(of program: BlockedProgram, volumes: [DeviceNumber] = []) throws -> CaptureAnswer {
    number += 1
    let order = CaptureOrder(processID: program.processID, threadID: program.threadID, volumes: volumes)
    try daemon.send(StackMessage(.capture, number: number, content: order.bytes))
    while true {
      let message = try daemon.receive().message
      guard message.kind == .answer, message.number == number else { continue }
      guard let answer = CaptureAnswer(message.content) else { throw BlockedProgram.Failure(what: "no answer") }
      return answer
    }
  }
}
