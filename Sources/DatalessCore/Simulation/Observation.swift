/// Whose reads are told to the end: with which ranges, by whom.
public enum Observation: String, Sendable, CaseIterable {
  /// Those of handles that were opened while the file was dataless. Later opens are served by the kernel, fast and
  /// unseen.
  case off
  /// Those of every handle. An open of a resident file is served as that of a dataless one, so each read(2) is a
  /// request.
  case reads
}
