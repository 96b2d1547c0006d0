/// One function on a stack.
public struct StackFrame: Sendable, Hashable, CustomStringConvertible {
  /// Its name; an address in its module where there is none.
  public let function: String
  /// The source file, or the module; empty if neither is known.
  public let file: String
  /// The line, from 1, if it is known.
  public let line: Int?

  /// As a failure prints it: `icon (manager.py:9)`.
  public var description: String {
    let place = baseName(file) + (line.map { ":\($0)" } ?? "")
    return place.isEmpty ? function : "\(function) (\(place))"
  }

  /// The functions of a `CallerStack`, innermost first: those of the interpreted program where there are any.
  static func frames(_ stack: JSONValue?) -> [StackFrame] {
    let interpreted = stack?["interpreted"]?["frames"]?.elements ?? []
    if !interpreted.isEmpty {
      return interpreted.map {
        StackFrame(
          function: $0["function"]?.string ?? "?", file: $0["file"]?.string ?? "",
          line: ($0["line"]?.integer).map(Int.init))
      }
    }
    return (stack?["frames"]?.elements ?? []).map {
      StackFrame(
        function: $0["symbol"]?.string ?? "0x" + String($0["offset"]?.integer ?? 0, radix: 16),
        file: $0["file"]?.string ?? $0["module"]?.string ?? "", line: ($0["line"]?.integer).map(Int.init))
    }
  }
}

/// A process, as far as it is known.
public struct CallerProcess: Sendable, Hashable, CustomStringConvertible {
  /// Its number; nil if it is not known.
  public let pid: Int32?
  /// Its command name, at most 15 bytes.
  public let comm: String?
  /// The path of its executable.
  public let exe: String?
  /// The script that an interpreter runs, without its folder.
  public let script: String?

  init(_ value: JSONValue?) {
    pid = (value?["pid"]?.integer).flatMap { Int32(exactly: $0) }
    comm = value?["comm"]?.string
    exe = value?["exe"]?.string
    script = value?["script"]?.string
  }

  /// Whether `name` is its command name, its executable (with or without the folder), or its script.
  public func isCalled(_ name: String) -> Bool {
    [comm, exe, exe.map(baseName), script].contains(name)
  }

  /// As a failure prints it: `python3 manager.py[4711]`.
  public var description: String {
    var words = exe.map(baseName) ?? comm ?? "?"
    if let script, script != words { words += " \(script)" }
    return pid.map { "\(words)[\($0)]" } ?? words
  }
}

/// A thread that waits for a volume right now.
public struct BlockedCaller: Sendable, Hashable, CustomStringConvertible {
  /// What it waits for, relative to the volume's root; empty for the root.
  public let path: String
  /// Whose thread it is.
  public let process: CallerProcess
  /// The thread's number.
  public let tid: Int32
  /// Whether it is the process's first thread.
  public let isMainThread: Bool
  /// What it called: `read`, `open`, `lookup`, ... (docs/EVENTS.md).
  public let trigger: String
  /// For how long it has been waiting.
  public let blocked: Duration
  /// Its stack, innermost first; empty if it could not be read.
  public let frames: [StackFrame]

  init(_ value: JSONValue) {
    let waiter = value["waiter"]
    path = value["path"]?.string ?? ""
    process = CallerProcess(waiter)
    tid = (waiter?["tid"]?.integer).flatMap { Int32(exactly: $0) } ?? 0
    isMainThread = waiter?["main_thread"]?.bool ?? false
    trigger = waiter?["trigger"]?.string ?? "?"
    blocked = .nanoseconds(waiter?["blocked_ns"]?.integer ?? 0)
    frames = StackFrame.frames(value["stack"])
  }

  /// Who waits for what, and where: a line, and one for the stack if there is one.
  public var description: String {
    let thread = isMainThread ? "main thread" : "thread \(tid)"
    let milliseconds = blocked / .milliseconds(1)
    let words = "\(path.isEmpty ? "." : path) by \(process) \(thread) \(trigger), for \(Int(milliseconds)) ms"
    if frames.isEmpty { return words }
    return words + "\n    at " + frames.map(\.description).joined(separator: " < ")
  }
}

/// One record of a log, as `dataless log --json` prints it (docs/EVENTS.md).
public struct LogRecord: Sendable, Hashable {
  /// All of it.
  public let value: JSONValue

  /// What kind of record it is, such as `materialization.finished`.
  public var type: String { value["type"]?.string ?? "" }
  /// Relative to the volume's root; empty for the root itself, and where the record is about no item.
  public var path: String { value["path"]?.string ?? "" }

  /// The value of one of its keys.
  public subscript(key: String) -> JSONValue? { value[key] }

  /// Whether it says that content of a file became local for programs: any, or those that `isMeant` means, or that
  /// one of those has started.
  ///
  /// - Parameter waits: Records of the waits for it, where it does not name all who waited (`namesAllWaiters`).
  ///   Default: none.
  func brought(waits: [LogRecord] = [], isMeant: (CallerProcess) -> Bool) -> Bool {
    guard self["kind"]?.string == "file", self["outcome"]?.string == "ok" || (self["bytes"]?.integer ?? 0) > 0 else {
      return false
    }
    return ((self["waiters"]?.elements ?? []) + waits.map(\.value)).contains { waiter in
      // What `materialize` and policies bring is nobody's.
      guard !["command", "eager"].contains(waiter["trigger"]?.string) else { return false }
      let process = waiter["process"]
      let them = [CallerProcess(process)] + (process?["parents"]?.elements ?? []).map(CallerProcess.init)
      return them.contains(where: isMeant)
    }
  }

  /// False where more waited than a record of an attempt has room for.
  var namesAllWaiters: Bool { (self["waiter_count"]?.integer ?? 0) <= self["waiters"]?.elements.count ?? 0 }
}

func baseName(_ path: String) -> String {
  path.split(separator: "/").last.map(String.init) ?? path
}
