/// The version that `dataless --version` prints.
public enum Version {
  public static let current = "0.1.0"
}
