import DatalessCore

/// What an earlier run has kept, and the volume does not know of yet because nobody has looked there since the mount.
extension VolumeBackend {
  // LIMIT: what is looked for is waited for so long where the answer says what is left out; a store may hang.
  static let visitLimit = Nanoseconds.seconds(5)

  /// Looks where content is kept of items and all below them.
  ///
  /// - Parameter limit: nil: until all is found, or the task is cancelled.
  func visitContent(of paths: [[UInt8]], atMost limit: Nanoseconds? = nil) async {
    for path in paths where !Task.isCancelled {
      await wait(atMost: limit) { [engine] end in engine.visitSavedContent(of: path, completion: end) }
    }
  }

  /// Waits until `body` has called what it was given, or for a time, or until the task is cancelled.
  func wait(atMost limit: Nanoseconds?, _ body: (@escaping @Sendable () -> Void) -> Void) async {
    let pause = OneShotWait()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        pause.begin(continuation)
        if let limit { volume.timer.schedule(at: volume.timer.now + limit) { pause.end() } }
        body { pause.end() }
      }
    } onCancel: {
      pause.end()
    }
  }
}
