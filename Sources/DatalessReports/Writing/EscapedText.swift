import DatalessControl

/// Text for each of the languages that reports are written in. What comes here has been through `TerminalText`, or is a
/// sentence of ours with such names in it: that alone would be markup where a file is called `<script>`.
enum EscapedText {
  /// Of an HTML or XML element or attribute. What XML 1.0 forbids becomes U+FFFD; line ends stay line ends also in
  /// attributes.
  static func markup(_ text: String) -> String {
    var output = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": output += "&amp;"
      case "<": output += "&lt;"
      case ">": output += "&gt;"
      case "\"": output += "&quot;"
      case "'": output += "&#39;"
      case "\t", "\n", "\r": output += "&#\(scalar.value);"
      default: output.unicodeScalars.append(isXML(scalar) ? scalar : "\u{fffd}")
      }
    }
    return output
  }

  /// The characters of XML 1.0, section 2.2.
  private static func isXML(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20...0xd7ff, 0xe000...0xfffd, 0x10000...0x10ffff: true
    default: false
    }
  }

  // LIMIT: of backticks around a code span. Readers of Markdown take no runs of any length for one.
  private static let fenceMax = 32

  /// A name in Markdown: a code span, in which there is no markup, and GitHub finds no links, mentions and issues.
  /// Empty where the name is.
  static func markdownCode(_ text: String) -> String {
    guard !text.isEmpty else { return "" }
    var content = ""
    var (run, longest) = (0, 0)
    for scalar in text.unicodeScalars {
      run = scalar == "`" ? run + 1 : 0
      longest = max(longest, run)
      switch scalar.value {
      case 0x0a, 0x0d: content += " "
      case 0..<0x20, 0x7f..<0xa0: content += "\u{fffd}"
      default: content.unicodeScalars.append(scalar)
      }
    }
    guard longest < fenceMax else { return "<code>\(markdown(text))</code>" }
    let fence = String(repeating: "`", count: longest + 1)
    // A blank at either end is taken off where both have one, and nothing but blanks is between.
    let (first, last) = (content.unicodeScalars.first, content.unicodeScalars.last)
    let isCut = first == " " && last == " " && content.unicodeScalars.contains { $0 != " " }
    let isPadded = first == "`" || last == "`" || isCut
    return isPadded ? "\(fence) \(content) \(fence)" : fence + content + fence
  }

  /// The same in a cell of a table, which a `|` would end also in code.
  static func markdownCell(_ text: String) -> String {
    var output = ""
    var backslashes = 0
    for scalar in markdownCode(text).unicodeScalars {
      if scalar == "|" {
        // An odd number would escape the one that is to escape this.
        output += backslashes.isMultiple(of: 2) ? "\\" : "\\\\"
      }
      backslashes = scalar == "\\" ? backslashes + 1 : 0
      output.unicodeScalars.append(scalar)
    }
    return output
  }

  /// A sentence in Markdown, on one line. What could begin a mention, an address or an issue is cut off from what
  /// follows, because GitHub looks for these in the text that is shown.
  static func markdown(_ text: String) -> String {
    var output = ""
    var last3 = ""
    for scalar in text.unicodeScalars {
      let isWord = scalar.value > 0x7f || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
      switch scalar {
      case "\n", "\r": output += " "
      // `www.` at the beginning of a word is a link.
      case "." where last3.lowercased() == "www": output += "&#46;"
      case "@", "#": output += "&#\(scalar.value);<!-- -->"
      case _ where isWord, " ", "/", ".", ",", "-", "+", "=", "?", "%", ";":
        output.unicodeScalars.append(scalar.value < 0x20 ? "\u{fffd}" : scalar)
      default: output += "&#\(scalar.value);"
      }
      last3.unicodeScalars.append(scalar)
      if last3.unicodeScalars.count > 3 { last3.unicodeScalars.removeFirst() }
    }
    return output
  }

  /// A frame of a collapsed stack: `;` separates frames, and lines stacks.
  static func frame(_ text: String) -> String {
    guard !text.isEmpty else { return "?" }
    var output = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case ";": output += ":"
      case "\n", "\r": output += " "
      default: output.unicodeScalars.append(scalar)
      }
    }
    return output
  }

  /// What follows `::error ...::`.
  static func commandMessage(_ text: String) -> String {
    var output = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "%": output += "%25"
      case "\r": output += "%0D"
      case "\n": output += "%0A"
      default: output.unicodeScalars.append(scalar)
      }
    }
    return output
  }

  /// The value of `file=` and the like in a workflow command.
  static func commandProperty(_ text: String) -> String {
    var output = ""
    for scalar in commandMessage(text).unicodeScalars {
      switch scalar {
      case ":": output += "%3A"
      case ",": output += "%2C"
      default: output.unicodeScalars.append(scalar)
      }
    }
    return output
  }
}
