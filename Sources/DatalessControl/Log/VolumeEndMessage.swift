/// How attempts end that were under way when their volume ended: the `message` of `materialization.finished`. What they
/// would have brought nobody knows.
public enum VolumeEndMessage: String, CaseIterable, Sendable {
  /// With ETIMEDOUT.
  case unmounting = "the volume is being unmounted"
  /// With ECONNABORTED.
  case aborted = "the volume was unmounted, or its connection aborted, from outside"
}
