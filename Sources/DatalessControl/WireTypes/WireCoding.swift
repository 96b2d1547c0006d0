import FoundationEssentials

/// JSON as it goes over the control socket: keys sorted, slashes as they are.
public enum WireCoding {
  public static func encode(_ value: some Encodable) throws(ControlError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return [UInt8](try encoder.encode(value))
    } catch {
      throw ControlError(code: .malformed, message: "cannot encode \(type(of: value)) as JSON: \(error).")
    }
  }

  /// - Parameter name: What is decoded, for the message: a file, a request.
  public static func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8], named name: String
  ) throws(ControlError) -> Value {
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch let error as DecodingError {
      throw ControlError(code: .malformed, message: "cannot understand \(name): \(describe(error)).")
    } catch {
      throw ControlError(code: .malformed, message: "cannot understand \(name): \(error).")
    }
  }

  private static func describe(_ error: DecodingError) -> String {
    func place(_ context: DecodingError.Context) -> String {
      let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
      return path.isEmpty ? "the JSON value" : "`\(path)`"
    }
    switch error {
    case .keyNotFound(let key, let context): return "\(place(context)) has no key `\(key.stringValue)`"
    case .typeMismatch(_, let context): return "\(place(context)) has the wrong type"
    case .valueNotFound(_, let context): return "\(place(context)) is null"
    case .dataCorrupted(let context): return "\(place(context)) is not valid"
    @unknown default: return "it is not valid"
    }
  }
}
