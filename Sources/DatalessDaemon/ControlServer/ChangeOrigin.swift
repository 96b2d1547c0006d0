/// Who asked for a change, as the log says it.
public enum ChangeOrigin: String, Sendable {
  /// A command of ours.
  case command
  /// Another client of the control API.
  case api
}
