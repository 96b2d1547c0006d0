/// What `run` has to say about its end, on standard error at once and in its answer.
final class RunWords {
  private(set) var all: [String] = []

  func say(_ message: String) {
    Console.error(message)
    all.append(message)
  }
}
