public import DatalessCore
internal import SystemPackage

/// What a synthetic tree is made of: `synthetic:files=1000000,depth=3,size=4k..1m,seed=1`.
///
/// The same specification gives the same names, sizes, times, inode numbers and bytes on every machine, for ever.
public struct SyntheticSpecification: Sendable, Hashable, CustomStringConvertible {
  public static let prefix = "synthetic:"
  public static let fileLimit = 100_000_000
  public static let depthLimit = 16
  /// 8 TiB.
  public static let sizeLimit: Int64 = 8 << 40

  /// Regular files in all, 1...100,000,000. Default: 1,000.
  public var files = 1000
  /// Levels of directories above the files, 0...16; with 0 all files lie in the root. Default: 2.
  public var depth = 2
  /// Smallest and largest size of a file in bytes, within 0...8 TiB. Default: 4k..64k.
  public var sizes: ClosedRange<Int64> = (4 << 10)...(64 << 10)
  /// Selects one of 2^64 trees. Default: 1.
  public var seed: UInt64 = 1

  public init() {}

  /// Whether a SOURCE argument means a synthetic tree, well-formed or not.
  public static func isSpecification(_ text: String) -> Bool { text.hasPrefix(prefix) }

  /// Reads a specification. Parts may come in any order, and those left out have their defaults.
  ///
  /// - Throws: EINVAL with a message that names the wrong part and says what is expected there.
  public init(parsing text: String) throws(FSError) {
    guard Self.isSpecification(text) else {
      throw FSError(.invalidArgument, "'\(text)' does not start with '\(Self.prefix)'")
    }
    var seen: Set<Substring> = []
    for part in text.dropFirst(Self.prefix.count).split(separator: ",", omittingEmptySubsequences: true) {
      guard let equals = part.firstIndex(of: "=") else {
        throw Self.failure(String(part), "has no value; expected files=, depth=, size= or seed=")
      }
      let key = part[..<equals]
      guard seen.insert(key).inserted else { throw Self.failure(String(part), "'\(key)' is given twice") }
      let value = String(part[part.index(after: equals)...])
      switch key {
      case "files": files = Int(try Self.integer(value, of: part, in: 1...UInt64(Self.fileLimit)))
      case "depth": depth = Int(try Self.integer(value, of: part, in: 0...UInt64(Self.depthLimit)))
      case "seed": seed = try Self.integer(value, of: part, in: 0...UInt64.max)
      case "size": sizes = try Self.range(value, of: part)
      default: throw Self.failure(String(part), "'\(key)' is unknown; expected files, depth, size or seed")
      }
    }
  }

  public var description: String {
    let size =
      sizes.lowerBound == sizes.upperBound
      ? Self.text(sizes.lowerBound) : "\(Self.text(sizes.lowerBound))..\(Self.text(sizes.upperBound))"
    return "\(Self.prefix)files=\(files),depth=\(depth),size=\(size),seed=\(seed)"
  }

  private static func integer(
    _ value: String, of part: Substring, in range: ClosedRange<UInt64>
  ) throws(FSError) -> UInt64 {
    let bounds = "\(range.lowerBound) to \(range.upperBound)"
    guard let number = UInt64(value), !value.hasPrefix("+") else {
      throw failure(String(part), "'\(value)' is not a whole number from \(bounds)")
    }
    guard range.contains(number) else { throw failure(String(part), "\(number) is not within \(bounds)") }
    return number
  }

  private static func range(_ value: String, of part: Substring) throws(FSError) -> ClosedRange<Int64> {
    let expected = "expected a size such as 4k, or two such as 4k..1m"
    var bounds: [Int64] = []
    for text in value.split(separator: ".", omittingEmptySubsequences: false).joinedAtDoublePoints() {
      do throws(FSError) {
        bounds.append(try ByteSize.parse(text))
      } catch {
        throw failure(String(part), "\(error.message); \(expected)")
      }
    }
    guard let first = bounds.first, let last = bounds.last, bounds.count <= 2 else {
      throw failure(String(part), "more than two sizes; \(expected)")
    }
    guard first <= last else { throw failure(String(part), "the first size is larger than the second; \(expected)") }
    guard last <= sizeLimit else { throw failure(String(part), "larger than 8 TiB; \(expected)") }
    return first...last
  }

  /// A size as it may stand in a specification, exactly.
  private static func text(_ bytes: Int64) -> String {
    if bytes == 0 { return "0" }
    for (shift, unit) in [(30, "g"), (20, "m"), (10, "k")] where bytes & ((1 << Int64(shift)) - 1) == 0 {
      return "\(bytes >> Int64(shift))\(unit)"
    }
    return "\(bytes)"
  }

  private static func failure(_ part: String, _ problem: String) -> FSError {
    FSError(.invalidArgument, "malformed synthetic source, part '\(part)': \(problem)")
  }
}

extension [Substring] {
  /// The pieces of a text split at `.`, put together again except at `..`: `1.5k..2m` gives `1.5k` and `2m`.
  fileprivate func joinedAtDoublePoints() -> [String] {
    var result = [String(first ?? "")]
    var index = 1
    while index < count {
      if self[index].isEmpty, index + 1 < count {
        result.append(String(self[index + 1]))
        index += 2
      } else {
        result[result.count - 1] += "." + self[index]
        index += 1
      }
    }
    return result
  }
}
