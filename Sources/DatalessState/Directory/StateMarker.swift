/// The marker of a state directory, as text: which format it has, and which volume it is.
struct StateMarker: Equatable {
  /// The format of the directory, not that of its catalog.
  static let format = 1
  static let limit = 256

  /// 32 hexadecimal digits.
  let volume: String

  init(volume: String) { self.volume = volume }

  /// nil for what is no volume's id.
  init?(volume: [UInt8]) {
    guard volume.count == 32, volume.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else {
      return nil
    }
    self.volume = String(decoding: volume, as: UTF8.self)
  }

  static func random() -> StateMarker {
    let halves = (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max))
    return StateMarker(volume: hexadecimal(halves.0) + hexadecimal(halves.1))
  }

  private static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  var text: [UInt8] { Array("dataless state directory\nformat \(Self.format)\nvolume \(volume)\n".utf8) }

  enum Failure: Error, Equatable {
    case newer(Int)
    case damaged
  }

  init(parsing bytes: [UInt8]) throws(Failure) {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 2, lines[0] == "dataless state directory", lines[1].hasPrefix("format "),
      let format = Int(lines[1].dropFirst(7)), format > 0
    else { throw .damaged }
    guard format <= Self.format else { throw .newer(format) }
    guard lines.count == 4, lines[3].isEmpty, lines[2].hasPrefix("volume ") else { throw .damaged }
    guard let marker = StateMarker(volume: Array(lines[2].dropFirst(7).utf8)) else { throw .damaged }
    self = marker
  }
}
