/// Every call of the control API. The client, the server and docs/openapi.yaml are held against this list.
public enum ControlRoute: String, CaseIterable, Sendable {
  case status = "GET /v1/status"
  case items = "GET /v1/items"
  case materialize = "POST /v1/materialize"
  case evict = "POST /v1/evict"
  case mark = "POST /v1/mark"
  case flushLog = "POST /v1/log/flush"
  case events = "GET /v1/events"
  case runFinished = "POST /v1/run/finished"
  case unmount = "POST /v1/unmount"

  public var method: String { String(rawValue.prefix { $0 != " " }) }
  public var path: String { String(rawValue.drop { $0 != " " }.dropFirst()) }

  /// Bodies of requests are refused beyond so many bytes: more than the longest command line, in base64.
  public static let requestBodyBytesMax = 16 << 20
}
