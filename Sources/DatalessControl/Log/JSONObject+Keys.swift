extension JSONObject {
  /// The names of all fields, in order, as they are written.
  public var keys: [String] { fields.map { String(decoding: bytes[$0.key], as: UTF8.self) } }
}
