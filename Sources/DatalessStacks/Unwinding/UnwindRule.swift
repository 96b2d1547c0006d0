/// One operation of a DWARF expression, decoded.
public struct DwarfOperation: Sendable, Equatable {
  public let code: UInt8
  public let first: UInt64
  public let second: UInt64
  /// Where it stands in the expression, in bytes: what branches count in.
  public let offset: UInt64

  public init(code: UInt8, first: UInt64 = 0, second: UInt64 = 0, offset: UInt64 = 0) {
    self.code = code
    self.first = first
    self.second = second
    self.offset = offset
  }
}

/// Where a caller's register is.
public enum RegisterRule: Sendable, Equatable {
  /// Lost; of the return address: there is no caller.
  case undefined
  /// In the register itself.
  case same
  /// The operations say where: an address, or with DW_OP_stack_value the value.
  case location([DwarfOperation])
}

/// What the tables say about one address of code.
public struct UnwindRow: Sendable, Equatable {
  /// The canonical frame address: the caller's rsp.
  public var frameAddress: [DwarfOperation]
  public var returnAddress: RegisterRule
  /// By DWARF's number; what is missing is `same`.
  public var saved: [Int: RegisterRule]
  /// Whether a signal was delivered there: the caller's address is where it was interrupted, not behind a call.
  public var isSignalFrame: Bool

  public init(
    frameAddress: [DwarfOperation], returnAddress: RegisterRule, saved: [Int: RegisterRule] = [:],
    isSignalFrame: Bool = false
  ) {
    self.frameAddress = frameAddress
    self.returnAddress = returnAddress
    self.saved = saved
    self.isSignalFrame = isSignalFrame
  }
}

/// A function, by the symbols of its file, or by its unwind tables.
public struct FunctionSymbol: Sendable, Equatable {
  public let start: UInt64
  /// Empty where no symbol says it.
  public let name: [UInt8]

  public init(start: UInt64, name: [UInt8]) {
    self.start = start
    self.name = name
  }

  /// Functions in which threads begin, whose tables need not say so.
  var isOutermost: Bool { Self.outermost.contains { name.elementsEqual($0.utf8) } }
  /// A builtin of V8: node has them in its own file, without tables.
  var isOfV8: Bool { name.starts(with: "Builtins_".utf8) }
  /// Where V8 has frames go on that it makes when it gives optimized code up: one for each function that was inlined
  /// there. Nothing has called them, and they return to where such a builtin begins.
  var isEntryOfRebuiltFrames: Bool {
    Self.entries.contains { name.elementsEqual($0.utf8) } || name.starts(with: "Builtins_ContinueTo".utf8)
  }
  private static let entries = [
    "Builtins_InterpreterEnterAtBytecode", "Builtins_InterpreterEnterAtNextBytecode",
    "Builtins_BaselineOrInterpreterEnterAtBytecode", "Builtins_BaselineOrInterpreterEnterAtNextBytecode",
  ]
  private static let outermost = ["_start", "clone3", "__clone3", "runtime.goexit", "runtime.goexit.abi0"]
}

/// What files say about addresses of a process. All addresses are those of the process.
public protocol UnwindSource {
  /// nil where there are no tables for the address.
  func row(at address: UInt64) -> UnwindRow?
  /// The function in which the address lies; nil where neither symbols nor tables say so.
  func function(at address: UInt64) -> FunctionSymbol?
  /// Bytes of code, as they are in the file; nil unless all of them are.
  func code(at address: UInt64, count: Int) -> [UInt8]?
}

extension UnwindSource {
  /// Whether a return address is where V8 has a frame go on that it has made.
  func isEntryOfRebuiltFrame(_ address: UInt64) -> Bool {
    guard let function = function(at: address), function.start == address else { return false }
    return function.isEntryOfRebuiltFrames
  }
}
