import DatalessControl

/// The types of a value and of all that is in it, as its `encode(to:)` hands them out: what JSON itself no longer
/// tells, such as the width of an integer.
indirect enum WireShape: Equatable {
  /// As OpenAPI writes it: the type, and behind a slash the format; `integer/unsigned` for what has none.
  case scalar(String)
  case array([WireShape])
  case object([String: WireShape])
  /// Any JSON.
  case anything

  init(of value: any Encodable) throws {
    let place = Place()
    try place.take(value)
    self = place.shape
  }

  fileprivate final class Place {
    var shape = WireShape.object([:])

    func take(_ value: any Encodable) throws {
      switch value {
      case is String: shape = .scalar("string")
      case is Bool: shape = .scalar("boolean")
      case is Double: shape = .scalar("number")
      case is Int32: shape = .scalar("integer/int32")
      case is Int64: shape = .scalar("integer/int64")
      case is UInt32, is UInt64: shape = .scalar("integer/unsigned")
      case is JSONValue: shape = .anything
      default: try value.encode(to: ShapeEncoder(place: self))
      }
    }

    func put(_ value: any Encodable, at key: String) throws {
      guard case .object(var members) = shape else { return }
      members[key] = try WireShape(of: value)
      shape = .object(members)
    }

    func append(_ value: any Encodable) throws {
      guard case .array(let elements) = shape else { return }
      shape = .array(elements + [try WireShape(of: value)])
    }
  }
}

private struct ShapeEncoder: Encoder {
  let place: WireShape.Place
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    place.shape = .object([:])
    return KeyedEncodingContainer(Members(place: place))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    place.shape = .array([])
    return Elements(place: place)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(place: place) }

  struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let place: WireShape.Place
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) throws { throw NotOnTheWire() }
    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
      try place.put(value, at: key.stringValue)
    }
    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(Members<Nested>(place: place)) }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { Elements(place: place) }
    mutating func superEncoder() -> any Encoder { ShapeEncoder(place: place) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { ShapeEncoder(place: place) }
  }

  struct Elements: UnkeyedEncodingContainer {
    let place: WireShape.Place
    var codingPath: [any CodingKey] { [] }
    var count: Int { if case .array(let elements) = place.shape { elements.count } else { 0 } }

    mutating func encodeNil() throws { throw NotOnTheWire() }
    mutating func encode<Value: Encodable>(_ value: Value) throws { try place.append(value) }
    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(Members<Nested>(place: place)) }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    mutating func superEncoder() -> any Encoder { ShapeEncoder(place: place) }
  }

  struct Single: SingleValueEncodingContainer {
    let place: WireShape.Place
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil() throws { throw NotOnTheWire() }
    mutating func encode<Value: Encodable>(_ value: Value) throws { try place.take(value) }
  }

  /// No type of the API writes null: what is not there is left out.
  struct NotOnTheWire: Error {}
}
