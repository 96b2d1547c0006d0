/// The replacement of `{}` in the arguments of a command.
public enum Placeholders {
  /// Replaces every occurrence of `placeholder`, also inside an argument and in the program's own name.
  ///
  /// - Parameter placeholder: Not empty. Occurrences do not overlap; the leftmost counts.
  public static func replace(_ placeholder: [UInt8], in arguments: [[UInt8]], with replacement: [UInt8]) -> [[UInt8]] {
    arguments.map { argument in
      var result: [UInt8] = []
      var rest = argument[...]
      while rest.count >= placeholder.count {
        if rest.starts(with: placeholder) {
          result += replacement
          rest = rest.dropFirst(placeholder.count)
        } else {
          result.append(rest.removeFirst())
        }
      }
      return result + rest
    }
  }
}
