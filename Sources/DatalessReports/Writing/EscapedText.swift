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

  /// A name in Markdown: as code, in which GitHub finds no mentions and no issues, with everything as a character
  /// reference that Markdown or HTML could take for markup.
  static func markdownCode(_ text: String) -> String { "<code>\(markdown(text))</code>" }

  /// A sentence in Markdown, on one line.
  static func markdown(_ text: String) -> String {
    var output = ""
    var last3 = ""
    for scalar in text.unicodeScalars {
      let isWord = scalar.value > 0x7f || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
      switch scalar {
      case "\n", "\r": output += " "
      // `www.` at the beginning of a word is a link.
      case "." where last3.lowercased() == "www": output += "&#46;"
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
