/// A call that the volume answers from what is local, and that a scenario may delay all the same, as on NFS, SMB or a
/// USB disk.
public enum AccessOperation: String, Sendable, Hashable, CaseIterable {
  /// LOOKUP of a name that is there.
  case lookup
  /// GETATTR: what stat(2) asks for.
  case getattr
  /// open(2) and opendir(3).
  case open
  /// read(2) and page faults of a file; readdir(3) of a directory.
  case read
  /// write(2), on a writable volume: not what the kernel writes back of a mapping on its own account.
  case write

  /// Its bit in `AccessOperations`.
  fileprivate var bit: UInt8 {
    switch self {
    case .lookup: 1
    case .getattr: 2
    case .open: 4
    case .read: 8
    case .write: 16
    }
  }

  /// What rules see: none of them asks for it (`access` beside `trigger` is an error), but the facts need one.
  func trigger(of kind: MaterializationKind) -> Trigger {
    switch self {
    case .lookup, .getattr: .lookup
    case .open: .open
    case .read: kind == .file ? .read : .readdir
    case .write: .write
    }
  }
}

/// Some of the operations.
public struct AccessOperations: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public init(_ operations: some Sequence<AccessOperation>) {
    self.init(rawValue: operations.reduce(0) { $0 | $1.bit })
  }

  public func contains(_ operation: AccessOperation) -> Bool { rawValue & operation.bit != 0 }
}

/// What becomes of a call of one operation.
public enum AccessEffect: Sendable, Equatable {
  case delay(LatencyModel)
  /// It is held until the gate of this name lets it go. Rules only.
  case gate(String)

  var isNothing: Bool { if case .delay(let model) = self { model.isZero } else { false } }
}

/// The delay of each operation, as far as there is one: of the volume, or in a rule.
public struct AccessDelay: Sendable, Equatable {
  /// A dictionary, so that a rule without any costs eight bytes.
  private var effects: [AccessOperation: AccessEffect] = [:] {
    didSet { delayed = AccessOperations(effects.lazy.filter { !$0.value.isNothing }.map { $0.key }) }
  }
  /// The operations that it may delay or hold. Kept: each open asks for it.
  public private(set) var delayed: AccessOperations = []

  public init() {}

  /// The delay of an operation; nil: none is said.
  public subscript(operation: AccessOperation) -> LatencyModel? {
    get { if case .delay(let model) = effects[operation] { model } else { nil } }
    set { effects[operation] = newValue.map { .delay($0) } }
  }

  /// nil: nothing is said about this operation.
  public func effect(on operation: AccessOperation) -> AccessEffect? { effects[operation] }

  public mutating func setEffect(_ effect: AccessEffect, on operation: AccessOperation) { effects[operation] = effect }

  public var isEmpty: Bool { effects.isEmpty }

  /// The operations that something is said about, 0 included.
  public var said: AccessOperations { AccessOperations(effects.keys) }

  /// The gates that hold calls.
  public var gates: [String] { effects.values.compactMap { if case .gate(let name) = $0 { name } else { nil } } }

  /// The longest delay that is likely; a gate has no end of its own.
  var longestDelay: Nanoseconds {
    effects.values.map { effect in
      if case .delay(let model) = effect { model.longestDelay } else { .max }
    }.max() ?? 0
  }
}
