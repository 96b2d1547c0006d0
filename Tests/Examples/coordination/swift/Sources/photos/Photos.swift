import DatalessAccess
import Glibc

/// A photo browser without a window: shows the pictures of a folder, naively, or by coordinated accesses ahead of time.
///
///     photos naive|coordinated FOLDER
///
/// Both list the folder, as the browser's window would, and then show one picture after the other. The naive one reads
/// each on its main thread when its turn comes. The other one asks for the next pictures while it shows this one, and
/// only ever shows what has come: its main thread waits for nothing but its event loop.
@main
struct Photos {
  /// Pictures that are asked for ahead of the one that is shown.
  static let ahead = 64

  @MainActor static func main() async {
    let words = CommandLine.arguments
    guard words.count == 3, words[1] == "naive" || words[1] == "coordinated" else {
      fail("usage: photos naive|coordinated FOLDER")
    }
    guard let folder = Folder(words[2]) else { fail("\(words[2]): \(String(cString: strerror(errno)))") }
    let window = Window()
    if words[1] == "naive" {
      for path in folder.paths { window.show(path) }
    } else {
      do {
        try await showAsTheyCome(folder.paths, in: window)
      } catch {
        fail("\(error)")
      }
    }
    window.report()
  }

  /// Each picture is held from when it is here until it is shown.
  @MainActor private static func showAsTheyCome(_ paths: [String], in window: Window) async throws {
    try await withThrowingTaskGroup(of: (String, AccessIntent).self) { group in
      var next = paths.makeIterator()
      func ask() {
        guard let path = next.next() else { return }
        group.addTask {
          let intent = try AccessIntent(reading: [path])
          _ = try await intent.granted()
          return (path, intent)
        }
      }
      for _ in 0..<ahead { ask() }
      while let (path, intent) = try await group.next() {
        window.show(path)
        try intent.end()
        ask()
      }
    }
  }

  private static func fail(_ message: String) -> Never {
    let line = "photos: \(message)\n"
    write(STDERR_FILENO, line, line.utf8.count)
    exit(1)
  }
}

/// What would be on the screen, and how long the main thread was away from its loop.
@MainActor final class Window {
  /// A main thread that does not come back to its loop for longer drops frames.
  private static let frame = Duration.nanoseconds(1_000_000_000 / 60)

  private let began = ContinuousClock.now
  private var shown = 0
  private var failed = 0
  private var hitches = 0
  private var away = Duration.zero

  func show(_ path: String) {
    let start = ContinuousClock.now
    if readAll(path) { shown += 1 } else { failed += 1 }
    let took = ContinuousClock.now - start
    away += took
    if took > Self.frame { hitches += 1 }
  }

  func report() {
    let took = ContinuousClock.now - began
    print(
      "\(shown) pictures in \(seconds(took)) s; main thread away \(seconds(away)) s, \(hitches) hitches"
        + (failed > 0 ? "; \(failed) could not be read" : ""))
  }

  private func seconds(_ duration: Duration) -> String {
    let hundredths = (duration / .milliseconds(10)).rounded()
    return "\(hundredths / 100)"
  }
}
