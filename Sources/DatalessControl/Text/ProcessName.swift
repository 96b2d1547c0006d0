/// What a process is called: its command, and the script that an interpreter runs.
public enum ProcessName {
  /// `python3 fm.py`; `fm.py` where the script was executed itself; nil where nothing is known.
  public static func of(comm: [UInt8]?, exe: [UInt8]?, script: [UInt8]?) -> [UInt8]? {
    guard let program = comm ?? exe.map({ PathBytes.lastComponent($0) }) else { return script }
    guard let script, !script.isEmpty else { return program }
    // The kernel cuts command names to 15 bytes.
    return program.elementsEqual(script.prefix(15)) ? script : program + [UInt8(ascii: " ")] + script
  }

  /// As `of`, escaped for a terminal; `unknown` where nothing is known.
  public static func text(comm: String?, exe: String?, script: String?) -> String {
    let name = of(
      comm: comm.map { Array($0.utf8) }, exe: exe.map { Array($0.utf8) }, script: script.map { Array($0.utf8) })
    return name.map { TerminalText.escaped($0) } ?? "unknown"
  }

  /// ` (docker:0123456789ab)` or ` (backup.service)`, escaped for a terminal, behind a name; empty for what is no
  /// service: all that somebody starts from a shell is in one scope of its session.
  public static func place(unit: String?, container: String?) -> String {
    guard let place = container ?? unit.flatMap({ $0.hasSuffix(".service") ? $0 : nil }) else { return "" }
    return " (\(TerminalText.escaped(place)))"
  }
}
