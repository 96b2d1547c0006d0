import DatalessCore

/// The body of a request. What a request has and the server does not know is a mistake of whoever wrote it, and
/// refused; answers are read leniently.
public protocol WireRequest: Decodable {
  /// All keys that it may have.
  static var keys: [String] { get }
}

extension WirePath: WireRequest {
  public static var keys: [String] { CodingKeys.allCases.map(\.rawValue) }
}
extension GateReleaseRequest: WireRequest {
  public static var keys: [String] { CodingKeys.allCases.map(\.rawValue) }
}
extension GateWaitRequest: WireRequest {
  public static var keys: [String] { CodingKeys.allCases.map(\.rawValue) }
}
extension RunFinishedRequest: WireRequest {
  public static var keys: [String] { CodingKeys.allCases.map(\.rawValue) }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    exitStatus = try container.decodeIfPresent(Int32.self, forKey: .exitStatus)
    signal = try container.decodeIfPresent(String.self, forKey: .signal)
    notStarted = try container.decodeIfPresent(String.self, forKey: .notStarted)
    interruptedBy = try container.decodeIfPresent(String.self, forKey: .interruptedBy)
    children = try container.decodeIfPresent(RunChildren.self, forKey: .children)
    // As answers have it, too, with keys that are not known; but what is known is not null.
    if let key = try container.decodeIfPresent(JSONValue.self, forKey: .children)?.null(of: Self.childKeys) {
      throw RequestMistake("`\(key)` in `children` is null; leave it out")
    }
  }

  private static let childKeys = Set(
    RunChildren.CodingKeys.allCases.map(\.rawValue) + RunChild.CodingKeys.allCases.map(\.rawValue)
      + WireProcess.CodingKeys.allCases.map(\.rawValue))
}

/// A body all of whose keys are known, and none of them null.
public struct StrictRequest<Body: WireRequest>: Decodable {
  public let body: Body

  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: AnyKey.self)
    for key in container.allKeys {
      guard Body.keys.contains(key.stringValue) else {
        let known = Body.keys.sorted().map { "`\($0)`" }.joined(separator: ", ")
        throw RequestMistake(
          "`\(TerminalText.escaped(key.stringValue))` is no key of it; it takes \(known)"
            + " (version \(Version.current) of the daemon)")
      }
      if try container.decodeNil(forKey: key) {
        throw RequestMistake("`\(key.stringValue)` is null; leave it out")
      }
    }
    body = try Body(from: decoder)
    if let path = body as? WirePath, let base64 = path.pathBase64, Base64.decode(base64) == nil {
      throw RequestMistake("`path_b64` is not base64")
    }
    if let release = body as? GateReleaseRequest, let base64 = release.pathBase64 {
      if Base64.decode(base64) == nil { throw RequestMistake("`path_b64` is not base64") }
    }
  }
}

/// What is wrong with a request.
struct RequestMistake: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
