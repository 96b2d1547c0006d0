/// How much of a file one attempt brings in, and when its waiters are answered. The words are those of the Cloud Files
/// API of Windows (CF_HYDRATION_POLICY).
public enum Hydration: String, Sendable, CaseIterable {
  /// The whole file; waiters are answered when all of it is there. macOS does no other.
  case full
  /// The whole file, from the first caller's offset on and then from its start; a waiter is answered as soon as what it
  /// asked for has arrived. The attempt goes on when nobody waits any more.
  case progressive
  /// Only what was asked for, in units of 4 KiB; it is remembered, and the file stays `partial` until nothing is
  /// missing.
  case partial
}
