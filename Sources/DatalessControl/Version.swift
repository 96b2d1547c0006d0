/// The version of the program: what `dataless --version` prints and `GET /v1/version` answers.
public enum Version {
  public static let current = "0.1.0"
  /// Of the control API: the number in its paths.
  public static let api: Int64 = 1
}
