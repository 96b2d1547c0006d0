/// Markdown as its readers take it apart.
enum MarkdownText {
  /// What stands in no code span: a run of backticks ends at the next one of its length on the line, or is text.
  static func withoutCode(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let characters = Array(line)
      var (output, index) = ("", 0)
      while index < characters.count {
        guard characters[index] == "`" else {
          output.append(characters[index])
          index += 1
          continue
        }
        let count = run(characters, at: index)
        if let end = end(of: count, in: characters, from: index + count) {
          index = end
        } else {
          output += String(repeating: "`", count: count)
          index += count
        }
      }
      return output
    }.joined(separator: "\n")
  }

  private static func run(_ characters: [Character], at index: Int) -> Int {
    characters[index...].prefix { $0 == "`" }.count
  }

  /// Behind the next run of so many backticks.
  private static func end(of count: Int, in characters: [Character], from start: Int) -> Int? {
    var index = start
    while index < characters.count {
      let length = run(characters, at: index)
      if length == count { return index + length }
      index += max(1, length)
    }
    return nil
  }
}
