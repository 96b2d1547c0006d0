/// What went wrong, in every answer with a 4xx or 5xx status and in a stream that breaks off.
public struct WireError: Codable, Sendable, Equatable {
  /// Stable word: `not_found`, `busy`, `invalid_request`, `forbidden`, `too_large`, `failed`, ...
  public var code: String
  /// Name, such as `ENOENT`, where a system call or the engine gave one.
  public var errno: String?
  /// One sentence for a person, with the remedy where there is one.
  public var message: String

  enum CodingKeys: String, CodingKey, CaseIterable {
    case code, errno, message
  }

  public init(code: String, errno: String? = nil, message: String) {
    self.code = code
    self.errno = errno
    self.message = message
  }
}
