/// The name of the script that an interpreter runs, found in its arguments without giving away anything else of them.
///
/// What is not understood for certain has no script: an unknown option may have a value, and a value may be a secret.
/// So `bash -c CODE`, `python3 -c CODE` and `node -e CODE` have none; `python3 -m MODULE` has the module's name.
enum ScriptName {
  /// How the command line of one family of interpreters is read.
  private struct Interpreter {
    /// Letters of options without a value, which may stand together.
    var flags: String
    /// Letters of options whose value is the next argument; last of their word.
    var valued = ""
    /// Letters whose value is the rest of their word, if that has one.
    var valuedInWord = ""
    /// Words without a value.
    var words: Set<String> = []
    /// Words whose value is the next argument, or follows a `=`.
    var valuedWords: Set<String> = []
    /// Words before `=` of options that carry their value with them.
    var assigned: Set<String> = []
    /// Words after which there is no script: code follows, or nothing. nil where all other words may have the next
    /// argument for their value, of which nothing is known.
    var endingWords: Set<String>?
    /// Whether `-m` names what is run.
    var hasModules = false
    /// Whether a single `-` ends the options; elsewhere it means standard input.
    var dashEndsOptions = false
    /// Whether the script may come behind `--`. To others that is the end of all that is theirs: what follows are
    /// arguments of a script on standard input.
    var scriptFollowsDashes = true
  }

  private static let shell = Interpreter(
    flags: "abefhiklmnprtuvxBCEHPT", valued: "oO", words: ["--login", "--posix", "--norc", "--noprofile", "--verbose"],
    dashEndsOptions: true)
  private static let python = Interpreter(flags: "bBdEhiIOPqsSuvx", valued: "WX", valuedInWord: "WX", hasModules: true)
  private static let node = Interpreter(
    flags: "", valued: "rC",
    words: [
      "--no-warnings", "--expose-gc", "--enable-source-maps", "--inspect", "--inspect-brk", "--trace-warnings",
      "--preserve-symlinks", "--perf-basic-prof", "--perf-basic-prof-only-functions", "--perf-prof", "--watch",
    ],
    valuedWords: [
      "--require", "--import", "--loader", "--experimental-loader", "--conditions", "--env-file", "--input-type",
      "--title", "--unhandled-rejections", "--disable-warning", "--redirect-warnings", "--icu-data-dir",
      "--openssl-config", "--diagnostic-dir", "--cpu-prof-dir", "--heap-prof-dir", "--watch-path",
    ],
    assigned: [
      "--max-old-space-size", "--inspect", "--inspect-brk", "--inspect-port", "--stack-size", "--stack-trace-limit",
    ],
    endingWords: ["--eval", "--print", "--run", "--interactive", "--v8-options", "--version", "--help"])
  private static let perl = Interpreter(flags: "acnpsStTuUwWX", valued: "I", valuedInWord: "ImM")
  private static let ruby = Interpreter(flags: "acnpsSvwW", valued: "rI", valuedInWord: "rIW")

  private static func interpreter(_ name: String) -> Interpreter? {
    switch name {
    case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash": shell
    case "python", "pypy": python
    case "node", "nodejs": node
    case "perl": perl
    case "ruby": ruby
    case "lua", "luajit", "fish": Interpreter(flags: "")
    case "php", "tclsh", "wish": Interpreter(flags: "", scriptFollowsDashes: false)
    default: nil
    }
  }

  /// - Parameters:
  ///   - arguments: With the program's own name first.
  ///   - isTruncated: Whether there were more, so that the last one may be cut.
  ///   - executable: What is executed, by its path or name.
  /// - Returns: The last component of the script's name; nil if there is no script, or none can be told for certain.
  static func find(in arguments: [[UInt8]], isTruncated: Bool, executable: [UInt8]) -> [UInt8]? {
    let name = lastComponent(executable)
    // python3.12, perl5.36.0, ruby3.2
    let plain = name.reversed().drop { (48...57).contains($0) || $0 == UInt8(ascii: ".") }.reversed()
    guard let interpreter = interpreter(String(decoding: Array(plain), as: UTF8.self)) else { return nil }
    guard let place = place(of: interpreter, arguments) else { return nil }
    guard !isTruncated || place.index < arguments.count - 1 else { return nil }
    return plausible(
      lastComponent(Array(arguments[place.index].dropFirst(place.skipped))), isCertain: place.isCertain)
  }

  /// Where the script, or module, stands: in which argument, behind how many bytes of it; and whether that is certain:
  /// it may also be the value of an option that is not known.
  private struct Place {
    var index: Int
    var skipped = 0
    var isCertain = true
  }

  private static func place(of interpreter: Interpreter, _ arguments: [[UInt8]]) -> Place? {
    var index = 1
    var isCertain = true
    while index < arguments.count {
      let word = arguments[index]
      let first = word.first
      guard first == UInt8(ascii: "-") || (first == UInt8(ascii: "+") && interpreter.dashEndsOptions) else {
        return Place(index: index, isCertain: isCertain)
      }
      let text = String(decoding: word, as: UTF8.self)
      if text == "--", !interpreter.scriptFollowsDashes { return nil }
      if text == "--" || (text == "-" && interpreter.dashEndsOptions) {
        return index + 1 < arguments.count ? Place(index: index + 1) : nil
      }
      if interpreter.hasModules, let skipped = bytesBeforeModule(text, interpreter) {
        let place = skipped < word.count ? Place(index: index, skipped: skipped) : Place(index: index + 1)
        return place.index < arguments.count && isModule(arguments[place.index].dropFirst(place.skipped)) ? place : nil
      }
      if text.hasPrefix("--") {
        guard let word = Word(text, interpreter) else { return nil }
        isCertain = word.isKnown
        index += word.count
        continue
      }
      guard text.count > 1, let skipped = letters(text.dropFirst(), interpreter) else { return nil }
      isCertain = true
      index += skipped
    }
    return nil
  }

  /// An option that is a word.
  private struct Word {
    /// How many arguments it takes, its value included.
    let count: Int
    /// Whether what follows is none of it for certain.
    let isKnown: Bool

    /// nil where nothing that follows can be the script.
    init?(_ text: String, _ interpreter: Interpreter) {
      let key = text.firstIndex(of: "=").map { String(text[..<$0]) }
      if key == nil, interpreter.valuedWords.contains(text) {
        (count, isKnown) = (2, true)
        return
      }
      count = 1
      isKnown =
        key.map { interpreter.assigned.contains($0) || interpreter.valuedWords.contains($0) }
        ?? interpreter.words.contains(text)
      guard isKnown || interpreter.endingWords?.contains(key ?? text) == false else { return nil }
    }
  }

  /// How many arguments a word of single letters takes, its value included; nil for what is not known.
  private static func letters(_ letters: Substring, _ interpreter: Interpreter) -> Int? {
    for (position, letter) in letters.enumerated() {
      let isLast = position == letters.count - 1
      if !isLast, interpreter.valuedInWord.contains(letter) { return 1 }
      if interpreter.flags.contains(letter) { continue }
      return isLast && interpreter.valued.contains(letter) ? 2 : nil
    }
    return 1
  }

  /// Of a word such as `-m`, `-Im` or `-mjson.tool`, which names a module: where that begins. nil for any other.
  private static func bytesBeforeModule(_ text: String, _ interpreter: Interpreter) -> Int? {
    for (position, letter) in text.dropFirst().enumerated() {
      if letter == "m" { return position + 2 }
      guard interpreter.flags.contains(letter) else { return nil }
    }
    return nil
  }

  private static func isModule(_ word: ArraySlice<UInt8>) -> Bool {
    !word.isEmpty
      && word.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
          || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
      }
  }

  private static let suffixes = [
    ".py", ".pyw", ".pyc", ".pyz", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".rb", ".pl", ".php", ".phar", ".lua",
    ".tcl", ".sh", ".bash", ".zsh", ".ksh", ".fish",
  ]

  /// A name of a file as people choose them. Code, addresses and assignments are none.
  ///
  /// What ends as scripts do may have spaces and some marks, too, if it stands where the script does. It has none of
  /// what secrets come with: assignments, addresses with passwords, options.
  private static func plausible(_ name: [UInt8], isCertain: Bool) -> [UInt8]? {
    guard (1...255).contains(name.count), !name.contains(where: { $0 < 0x20 || $0 == 0x7f }) else { return nil }
    let isScript = suffixes.contains { suffix in
      name.count > suffix.utf8.count && name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
    guard isCertain || isScript else { return nil }
    if !name.contains(where: { $0 == 0x20 || marks.contains($0) || codeMarks.contains($0) }) { return name }
    let hasOption = name.split(separator: 0x20).dropFirst().contains { $0.count > 1 && $0.first == UInt8(ascii: "-") }
    return isCertain && isScript && !hasOption && !name.contains(where: codeMarks.contains) ? name : nil
  }

  private static let marks = Set(";@&'()".utf8)
  private static let codeMarks = Set("=:|<>$`\"{}".utf8)

  private static func lastComponent(_ path: [UInt8]) -> [UInt8] {
    path.lastIndex(of: UInt8(ascii: "/")).map { Array(path[($0 + 1)...]) } ?? path
  }
}
