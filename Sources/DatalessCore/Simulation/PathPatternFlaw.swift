/// Why a text is no glob.
public struct PathPatternFlaw: Error, Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    case empty, slashAlone, slashAtTheEnd, twoSlashes, dots, backslash, bracket
    case braceNotClosed, braceNotOpened, braceOfOne, bracesTooDeep, bracesTooMany
  }

  public let kind: Kind
  /// The one of several patterns that braces stand for.
  public let alternative: [UInt8]?

  init(_ kind: Kind, alternative: [UInt8]? = nil) {
    self.kind = kind
    self.alternative = alternative
  }

  /// What is wrong and what to do: sentences, the first without a capital letter.
  public var words: String {
    switch kind {
    case .empty: "it is empty. Use \"**\" for every path."
    case .slashAlone: "nothing follows the slash. Use \"**\" for every path."
    case .slashAtTheEnd: "it ends in a slash. Remove it for the directory itself, or append ** for what is in it."
    case .twoSlashes: "two slashes in a row. Remove one."
    case .dots: "a component of it is '.' or '..', which no path has. Write the path from the volume's root."
    case .backslash: "nothing follows the backslash. Write \\\\ for a backslash itself."
    case .bracket:
      "a '[' is not closed in its component, or a range of it runs backwards. Write \\[ for a bracket itself."
    case .braceNotClosed: "a '{' is not closed. Write {a,b} for a or b, and \\{ for a brace itself."
    case .braceNotOpened: "a '}' closes nothing. Write {a,b} for a or b, and \\} for a brace itself."
    case .braceOfOne:
      "there is only one word in the braces. Write {a,b} for a or b, and \\{ and \\} for braces themselves."
    case .bracesTooDeep:
      "more than \(PathPattern.braceDepthMax) braces in one another. Write several globs instead."
    case .bracesTooMany:
      "its braces stand for more than \(PathPattern.alternativesMax) globs, or for very long ones. Write several instead."
    }
  }
}
