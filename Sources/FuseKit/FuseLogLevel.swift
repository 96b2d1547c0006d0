/// How grave a message of libfuse is; syslog's levels.
public enum FuseLogLevel: UInt32, Sendable, Hashable {
  case emergency, alert, critical, error, warning, notice, info, debug
}
