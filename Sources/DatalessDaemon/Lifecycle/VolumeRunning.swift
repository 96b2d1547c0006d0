/// One volume as the lifecycle sees it: it starts, it is asked to end, it ends.
public protocol VolumeRunning: AnyObject, Sendable {
  /// Mounts and begins to serve; returns when a statfs of the volume would be answered.
  ///
  /// - Throws: Any error; its description becomes the one line that the command prints.
  func start() throws

  /// Asks the volume to end. Any thread, any number of times, never blocks; the first reason counts.
  func requestEnd(reason: String)

  /// Waits until an end was requested or the kernel ended the volume, then shuts down in bounded steps.
  ///
  /// Called once, on the main thread, after `start` returned.
  ///
  /// - Returns: The daemon's exit status.
  func runUntilEnded() -> Int32
}
