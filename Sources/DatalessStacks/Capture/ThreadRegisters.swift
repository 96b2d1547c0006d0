/// What /proc/TID/syscall says of a thread that is not running: two registers, which is all there is (S1).
public struct ThreadRegisters: Sendable, Equatable {
  /// The number of the system call; nil in a page fault.
  public let call: Int?
  public let stackPointer: UInt64
  public let programCounter: UInt64

  public init(call: Int?, stackPointer: UInt64, programCounter: UInt64) {
    self.call = call
    self.stackPointer = stackPointer
    self.programCounter = programCounter
  }

  /// - Parameter text: "NUMBER 0xARG * 6 0xSP 0xPC" in a call, "-1 0xSP 0xPC" in a fault.
  /// - Returns: nil for "running", and for whatever else has not this form.
  public init?(_ text: [UInt8]) {
    let words = text.prefix { $0 != UInt8(ascii: "\n") }.split(separator: UInt8(ascii: " "))
    guard words.count == 9 || words.count == 3, let first = words.first,
      let stackPointer = Hexadecimal.prefixed(words[words.count - 2]),
      let programCounter = Hexadecimal.prefixed(words[words.count - 1])
    else { return nil }
    let number = Int(String(decoding: first, as: UTF8.self))
    guard let number, words.count == 9 ? number >= 0 : number == -1 else { return nil }
    self.init(call: number >= 0 ? number : nil, stackPointer: stackPointer, programCounter: programCounter)
  }
}

/// How often a thread has been put on a processor: the third number of /proc/TID/schedstat.
///
/// Two looks with the same registers do not prove that the thread stood still in between, since a loop comes by the
/// same place again; two with the same count do (S17).
public struct RunCount: Sendable, Equatable {
  public let value: UInt64

  public init?(_ text: [UInt8]) {
    let words = text.prefix { $0 != UInt8(ascii: "\n") }.split(separator: UInt8(ascii: " "))
    guard words.count == 3, let value = UInt64(String(decoding: words[2], as: UTF8.self)) else { return nil }
    self.value = value
  }
}

enum Hexadecimal {
  /// 1 to 16 digits, nothing else.
  static func number(_ digits: some Collection<UInt8>) -> UInt64? {
    guard (1...16).contains(digits.count) else { return nil }
    var value: UInt64 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return value
  }

  /// As `number`, after "0x".
  static func prefixed(_ word: ArraySlice<UInt8>) -> UInt64? {
    guard word.count > 2, word.prefix(2).elementsEqual("0x".utf8) else { return nil }
    return number(word.dropFirst(2))
  }
}
