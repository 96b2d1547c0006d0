internal import CDw

/// libdw, once it is loaded. For the life of the process, which has loaded it before it reads anything foreign.
public struct DwarfLibrary: @unchecked Sendable {
  // Constant after cdw_load; its functions are called with the files of one thread each.
  let pointer: OpaquePointer

  public struct Missing: Error, Sendable, CustomStringConvertible {
    /// In the dynamic linker's words.
    public let description: String
  }

  public init() throws(Missing) {
    var problem: UnsafePointer<CChar>?
    guard let library = cdw_load(&problem) else {
      throw Missing(description: problem.map { String(cString: $0) } ?? "libdw.so.1 cannot be loaded")
    }
    pointer = library
  }
}

/// A function that the compiler has put into another one.
struct InlinedCall: Equatable {
  let function: [UInt8]
  /// Where the other one would call it; empty and 0 where that is not known.
  let file: [UInt8]
  let line: Int
}

/// The unwind tables and line numbers of one file, by libdw. Addresses are those of the file. For one thread.
public final class DwarfFile {
  private let pointer: OpaquePointer
  // LIMIT: operations of one rule.
  private static let operationsMax = DwarfExpression.stepsMax

  /// - Parameters:
  ///   - descriptor: Of the file; it stays open, and the caller's, as long as this is used.
  ///   - debug: Of its file of debug information.
  public init?(_ descriptor: Int32, debug: Int32? = nil, library: DwarfLibrary) {
    guard let pointer = cdw_open(library.pointer, descriptor, debug ?? -1) else { return nil }
    self.pointer = pointer
  }

  deinit { cdw_close(pointer) }

  /// nil where there are no tables, and where they cannot be followed.
  public func row(at address: UInt64) -> UnwindRow? {
    guard let row = cdw_find_row(pointer, address) else { return nil }
    defer { cdw_free_row(row) }
    guard case .location(let frameAddress) = Self.rule(row, Int32(CDW_FRAME_ADDRESS)),
      let returnAddress = Self.rule(row, Int32(CDW_RETURN_ADDRESS))
    else { return nil }
    var saved: [Int: RegisterRule] = [:]
    // libdw takes rbx for lost where a table says nothing: unknown then, which is wanted by hardly any rule, and no
    // lie.
    for number in RegisterFile.saved { saved[number] = Self.rule(row, Int32(number)) ?? .undefined }
    return UnwindRow(
      frameAddress: frameAddress, returnAddress: returnAddress, saved: saved, isSignalFrame: cdw_is_signal_frame(row))
  }

  /// nil without debug information for the address.
  public func line(at address: UInt64) -> (file: [UInt8], line: Int)? {
    var line: Int32 = 0
    guard let file = cdw_find_line(pointer, address, &line), line > 0 else { return nil }
    return (Array(String(cString: file).utf8), Int(line))
  }

  /// A function's own line where it begins, whatever is inlined at its first instruction.
  ///
  /// - Returns: nil where no row of the table of lines begins there.
  func firstLine(at address: UInt64) -> (file: [UInt8], line: Int)? {
    var line: Int32 = 0
    guard let file = cdw_find_first_line(pointer, address, &line), line > 0 else { return nil }
    return (Array(String(cString: file).utf8), Int(line))
  }

  /// What debug information says of inlined functions.
  enum Inlining {
    /// Innermost first, by their symbols, or their names where they have none.
    case known([InlinedCall])
    /// A file tells of them that is not read.
    case unread
    /// They are more than `CDW_INLINED_MAX`.
    case tooMany
  }

  /// The functions that are inlined at an address.
  func inlined(at address: UInt64) -> Inlining {
    var calls = Array(repeating: cdw_inlined(), count: Int(CDW_INLINED_MAX))
    let count = cdw_find_inlined(pointer, address, &calls)
    guard count >= 0 else { return count == CDW_INLINED_UNREAD ? .unread : .tooMany }
    let known = calls.prefix(Int(count)).map { call in
      func text(_ bytes: UnsafePointer<CChar>?) -> [UInt8] { bytes.map { Array(String(cString: $0).utf8) } ?? [] }
      return InlinedCall(function: text(call.function), file: text(call.file), line: max(0, Int(call.line)))
    }
    return .known(known)
  }

  private static func rule(_ row: OpaquePointer, _ number: Int32) -> RegisterRule? {
    let rule = cdw_find_rule(row, number)
    switch Int(rule.kind) {
    case Int(CDW_UNDEFINED): return .undefined
    case Int(CDW_SAME): return .same
    case Int(CDW_LOCATION):
      guard rule.count <= operationsMax else { return nil }
      return .location(
        (0..<rule.count).map {
          let operation = cdw_operation_at(row, $0)
          return DwarfOperation(
            code: operation.code, first: operation.first, second: operation.second, offset: operation.offset)
        })
    default: return nil
    }
  }
}
