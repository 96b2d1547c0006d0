import DatalessControl
import Glibc
import Synchronization

/// Asks a volume's daemon in the background, so that keys and signals are heard while it does not answer.
final class TopFeed: Sendable {
  struct Look: Sendable {
    let status: VolumeStatus
    let stacks: [BlockedCaller]?
  }

  /// Readable when there is an answer.
  let descriptor: CInt
  private let writing: CInt
  private let answers = Mutex<[Result<Look, any Error>]>([])
  private let questions: AsyncStream<Bool>.Continuation

  init?(_ volume: MountEntry) {
    guard let (reading, writing) = Pipe.make() else { return nil }
    (descriptor, self.writing) = (reading, writing)
    let (stream, questions) = AsyncStream.makeStream(of: Bool.self)
    self.questions = questions
    Task { [self] in
      do {
        try await ControlClient.with(volume: volume) { client in
          for await wantsStacks in stream {
            let status = try await client.status()
            let stacks = wantsStacks ? try? await client.stacks(pid: nil).callers : nil
            deliver(.success(Look(status: status, stacks: stacks)))
          }
        }
      } catch {
        deliver(.failure(error))
      }
    }
  }

  func ask(withStacks: Bool) { questions.yield(withStacks) }

  /// The oldest answer that nobody has had.
  func next() -> Result<Look, any Error>? {
    var byte: UInt8 = 0
    read(descriptor, &byte, 1)
    return answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }

  private func deliver(_ answer: Result<Look, any Error>) {
    answers.withLock { $0.append(answer) }
    var byte: UInt8 = 1
    write(writing, &byte, 1)
  }
}
