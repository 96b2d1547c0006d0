/// Every call of the control API. The client, the server and docs/openapi.yaml are held against this list.
public enum ControlRoute: String, CaseIterable, Sendable {
  case version = "GET /v1/version"
  case status = "GET /v1/status"
  case items = "GET /v1/items"
  case materialize = "POST /v1/materialize"
  case evict = "POST /v1/evict"
  case pin = "POST /v1/pin"
  case unpin = "POST /v1/unpin"
  case pressure = "POST /v1/pressure"
  case capacity = "GET /v1/capacity"
  case inventory = "POST /v1/inventory"
  case remove = "POST /v1/remove"
  case refresh = "POST /v1/refresh"
  case conflicts = "POST /v1/conflicts"
  case interrupt = "POST /v1/interrupt"
  case reset = "POST /v1/reset"
  case mark = "POST /v1/mark"
  case flushLog = "POST /v1/log/flush"
  case stacks = "GET /v1/stacks"
  case coordination = "GET /v1/coordination"
  case gates = "GET /v1/gates"
  case releaseGate = "POST /v1/gates/release"
  case openGate = "POST /v1/gates/open"
  case closeGate = "POST /v1/gates/close"
  case waitForGate = "POST /v1/gates/wait"
  case scenario = "GET /v1/scenario"
  case replaceScenario = "PUT /v1/scenario"
  case changeSettings = "POST /v1/scenario/settings"
  case addRule = "POST /v1/scenario/rules"
  case removeRule = "DELETE /v1/scenario/rules"
  case explain = "GET /v1/explain"
  case events = "GET /v1/events"
  case runFinished = "POST /v1/run/finished"
  case unmount = "POST /v1/unmount"

  public var method: String { String(rawValue.prefix { $0 != " " }) }
  public var path: String { String(rawValue.drop { $0 != " " }.dropFirst()) }

  /// The parameters that its query may have.
  public var queryParameters: [String] {
    switch self {
    case .items: ["after", "limit", "path", "path_b64", "recursive"]
    case .stacks: ["pid"]
    case .explain: ["path", "path_b64", "pid", "trigger"]
    case .replaceScenario, .removeRule: ["name"]
    default: []
    }
  }

  /// Whether what it is sent is a scenario, or a part of one, so that it can be refused with places and problems.
  var takesScenario: Bool {
    switch self {
    case .replaceScenario, .changeSettings, .addRule, .removeRule: true
    default: false
    }
  }

  /// The header by which a command of ours says that it is one: `command`. Records of what others ask for say `api`.
  public static let originHeader = "dataless-by"

  /// The header of a long answer by which it can be interrupted: a number.
  public static let requestHeader = "dataless-request"

  /// Bodies of requests are refused beyond so many bytes: more than the longest command line, in base64, and as
  /// much as a scenario may have.
  public static let requestBodyBytesMax = 16 << 20
}

/// Percent-encoding of RFC 3986: everything but unreserved characters is encoded.
enum PercentEncoding {
  static func encode(_ bytes: [UInt8]) -> String {
    var output = ""
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        output.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        output += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return output
  }
}
