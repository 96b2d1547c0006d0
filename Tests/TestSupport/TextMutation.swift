/// Changes of text that consists of lines, and lines that consist of words: /proc, a mount table, HTTP, YAML.
public struct TextMutation: Sendable {
  private let separators: Set<UInt8>
  private let words: [[UInt8]]

  /// - Parameters:
  ///   - separators: What stands between words, beside the newline.
  ///   - words: What may stand for a word, beside `ByteMutation.pieces`.
  public init(separators: String, words: [String] = []) {
    self.separators = Set(separators.utf8)
    self.words = words.map { Array($0.utf8) } + ByteMutation.pieces
  }

  public func mutated(_ text: [UInt8], _ random: inout TestRandom) -> [UInt8] {
    var lines = text.split(separator: 0x0a, omittingEmptySubsequences: false).map { Array($0) }
    for _ in 0...random.below(4) {
      let line = random.below(lines.count)
      switch random.below(8) {
      case 0: lines.remove(at: line)
      case 1: lines.insert(lines[line], at: random.below(lines.count + 1))
      case 2: lines.swapAt(line, random.below(lines.count))
      case 3: lines[line] = ByteMutation.mutated(lines[line], &random, others: lines)
      default: lines[line] = changed(lines[line], &random)
      }
      if lines.isEmpty { break }
    }
    return Array(lines.joined(separator: [0x0a]))
  }

  /// One word of a line, or what stands between two.
  private func changed(_ line: [UInt8], _ random: inout TestRandom) -> [UInt8] {
    var parts: [[UInt8]] = []
    for byte in line {
      let isSeparator = separators.contains(byte)
      if let last = parts.last?.last, separators.contains(last) == isSeparator {
        parts[parts.count - 1].append(byte)
      } else {
        parts.append([byte])
      }
    }
    guard !parts.isEmpty else { return random.element(of: words) }
    let part = random.below(parts.count)
    switch random.below(8) {
    case 0: parts.remove(at: part)
    case 1: parts.insert(parts[part], at: random.below(parts.count + 1))
    case 2: parts.swapAt(part, random.below(parts.count))
    case 3: parts[part] = Array(repeating: parts[part], count: 1 + random.below(300)).flatMap { $0 }
    case 4: parts[part] = ByteMutation.mutated(parts[part], &random)
    case 5: parts.insert([separators.randomElement(using: &random) ?? 0x20], at: part)
    default: parts[part] = random.element(of: words)
    }
    return Array(parts.joined())
  }
}
