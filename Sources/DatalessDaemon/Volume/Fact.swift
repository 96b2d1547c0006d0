import DatalessControl
import DatalessCore

/// A setting or a fact, for the log and for `status`.
enum Fact: Sendable {
  case flag(Bool)
  case number(Int64)
  case text(String)
}

extension LogValue {
  init(_ fact: Fact) {
    switch fact {
    case .flag(let value): self = .bool(value)
    case .number(let value): self = .integer(value)
    case .text(let value): self = .string(value)
    }
  }

  init(_ facts: [String: Fact]) {
    self = .object(facts.sorted { $0.key < $1.key }.map { LogField(key: $0.key, value: LogValue($0.value)) })
  }
}

extension JSONValue {
  init(_ fact: Fact) {
    switch fact {
    case .flag(let value): self = .bool(value)
    case .number(let value): self = .integer(value)
    case .text(let value): self = .string(value)
    }
  }
}
