/// A function of an interpreted program on a stack, or a command of a shell.
public struct InterpretedFunction: Sendable, Equatable {
  /// Of Python its qualified name since 3.11; of bash the command as the script has it, without its variables' values.
  public let function: [UInt8]
  public let file: [UInt8]
  /// nil where it is not known, or belongs to none.
  public let line: Int?

  public init(function: [UInt8], file: [UInt8], line: Int?) {
    self.function = function
    self.file = file
    self.line = line
  }
}
