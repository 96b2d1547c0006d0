import FoundationEssentials

/// A JSON Schema (draft 2020-12), as far as those of this repository go: a keyword that is not known here is a problem
/// of its own.
///
/// It is not the product's code: what the product writes is held against it.
public struct Schema: Sendable {
  let root: JSONTree
  /// Where to begin: a definition, or the root.
  private let start: JSONTree

  /// - Parameter definition: The name below `$defs` that values are held against; nil for the whole.
  public init(_ bytes: some Sequence<UInt8>, definition: String? = nil) throws {
    let root = try JSONTree(parsing: bytes)
    self.root = root
    start = definition.map { root["$defs"]?[$0] ?? .bool(false) } ?? root
  }

  /// A file `docs/<name>.schema.json`; behind `#/$defs/` one definition of it.
  public static func document(_ name: String) throws -> Schema {
    let parts = name.split(separator: "#")
    let file = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let bytes = try Data(contentsOf: URL(filePath: "/\(file)/docs/\(parts[0])"))
    return try Schema(bytes, definition: parts.count > 1 ? String(parts[1].dropFirst("/$defs/".count)) : nil)
  }

  /// One of `$defs`.
  public func definition(_ name: String) -> JSONTree? { root["$defs"]?[name] }

  /// What is wrong with a value, each with its place; empty if it is valid.
  public func problems(of value: JSONTree) -> [String] {
    var check = SchemaCheck(root: root)
    check.check(value, start, at: "$")
    return check.problems
  }

  /// As `problems(of:)` of one line of JSON.
  public func problems(ofLine line: some Sequence<UInt8>) -> [String] {
    guard let value = try? JSONTree(parsing: line) else {
      return ["no JSON: \(String(decoding: Array(line), as: UTF8.self))"]
    }
    return problems(of: value)
  }
}

/// One value on its way through a schema.
struct SchemaCheck {
  let root: JSONTree
  var problems: [String] = []

  /// What says nothing about a value.
  private static let remarks: Set<String> = [
    "$schema", "$id", "$defs", "$comment", "title", "description", "default", "examples", "format", "contentEncoding",
  ]

  init(root: JSONTree) { self.root = root }

  mutating func check(_ value: JSONTree, _ schema: JSONTree, at place: String) {
    switch schema {
    case .bool(true): return
    case .object(let keywords):
      for (keyword, argument) in keywords where !Self.remarks.contains(keyword) {
        if !checkAny(value, keyword, argument, place), !checkObject(value, keyword, argument, schema, place),
          !checkArray(value, keyword, argument, place), !checkScalar(value, keyword, argument, place)
        {
          problems.append("\(place): the keyword \(keyword) is not known")
        }
      }
    default: problems.append("\(place): nothing may be here")
    }
  }

  private func isValid(_ value: JSONTree, _ schema: JSONTree, at place: String) -> [String] {
    var check = SchemaCheck(root: root)
    check.check(value, schema, at: place)
    return check.problems
  }

  private mutating func fail(_ place: String, _ value: JSONTree, _ why: String, if wrong: Bool) {
    if wrong { problems.append("\(place): \(why), not \(value)") }
  }

  /// - Returns: Whether the keyword is one of these.
  private mutating func checkAny(_ value: JSONTree, _ keyword: String, _ argument: JSONTree, _ place: String) -> Bool {
    switch keyword {
    case "type":
      let types = argument.string.map { [$0] } ?? argument.array.compactMap(\.string)
      let isOne = types.contains(value.type) || (value.type == "integer" && types.contains("number"))
      fail(place, value, types.joined(separator: " or "), if: !isOne)
    case "const": fail(place, value, "\(argument)", if: value != argument)
    case "enum": fail(place, value, "one of \(argument.array)", if: !argument.array.contains(value))
    case "$ref":
      let parts = (argument.string ?? "").split(separator: "/")
      let target = parts.dropFirst().reduce(root as JSONTree?) { $0?[String($1)] }
      guard parts.first == "#", let target else {
        problems.append("\(place): \(argument) leads nowhere")
        return true
      }
      check(value, target, at: place)
    case "allOf": for schema in argument.array { check(value, schema, at: place) }
    case "anyOf", "oneOf":
      let found = argument.array.map { isValid(value, $0, at: place) }
      let valid = found.count { $0.isEmpty }
      if valid == 0 {
        problems += found.min { $0.count < $1.count } ?? ["\(place): there is nothing to choose from"]
      } else if valid > 1, keyword == "oneOf" {
        problems.append("\(place): \(valid) of the alternatives hold, not one")
      }
    case "not": fail(place, value, "something else", if: isValid(value, argument, at: place).isEmpty)
    default: return false
    }
    return true
  }

  private mutating func checkObject(
    _ value: JSONTree, _ keyword: String, _ argument: JSONTree, _ schema: JSONTree, _ place: String
  ) -> Bool {
    let members = value.object
    switch keyword {
    case "properties":
      for (key, schema) in argument.object {
        if let member = members[key] { check(member, schema, at: "\(place).\(key)") }
      }
    case "required":
      guard case .object = value else { return true }
      for key in argument.array.compactMap(\.string) where members[key] == nil {
        problems.append("\(place): \(key) is missing")
      }
    case "additionalProperties":
      let known = schema["properties"]?.object ?? [:]
      for (key, member) in members where known[key] == nil {
        if argument == .bool(false) {
          problems.append("\(place): \(key) is not in the schema")
        } else {
          check(member, argument, at: "\(place).\(key)")
        }
      }
    case "propertyNames": for key in members.keys { check(.string(key), argument, at: "\(place).\(key)") }
    case "minProperties", "maxProperties":
      guard case .object = value else { return true }
      bound(Double(members.count), keyword, argument, value, place)
    default: return false
    }
    return true
  }

  private mutating func checkArray(_ value: JSONTree, _ keyword: String, _ argument: JSONTree, _ place: String) -> Bool
  {
    guard ["items", "contains", "minItems", "maxItems"].contains(keyword) else { return false }
    guard case .array(let elements) = value else { return true }
    switch keyword {
    case "items": for (index, element) in elements.enumerated() { check(element, argument, at: "\(place)[\(index)]") }
    case "contains":
      let isThere = elements.contains { isValid($0, argument, at: place).isEmpty }
      fail(place, value, "with \(argument) in it", if: !isThere)
    default: bound(Double(elements.count), keyword, argument, value, place)
    }
    return true
  }

  private mutating func checkScalar(_ value: JSONTree, _ keyword: String, _ argument: JSONTree, _ place: String) -> Bool
  {
    switch keyword {
    case "minimum", "maximum": if let number = value.double { bound(number, keyword, argument, value, place) }
    case "minLength", "maxLength":
      if let text = value.string { bound(Double(text.unicodeScalars.count), keyword, argument, value, place) }
    case "pattern":
      guard let text = value.string else { return true }
      guard let pattern = argument.string, let regex = try? Regex(pattern) else {
        problems.append("\(place): the pattern \(argument) is none")
        return true
      }
      fail(place, value, pattern, if: (try? regex.firstMatch(in: text)) == nil)
    default: return false
    }
    return true
  }

  private mutating func bound(
    _ number: Double, _ keyword: String, _ argument: JSONTree, _ value: JSONTree, _ place: String
  ) {
    guard let limit = argument.double else { return problems.append("\(place): \(keyword) is no number") }
    fail(place, value, "\(keyword) \(limit)", if: keyword.hasPrefix("min") ? number < limit : number > limit)
  }
}
