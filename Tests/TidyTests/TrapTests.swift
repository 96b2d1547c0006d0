import Testing

/// A trap ends the daemon, and with it the volume. So every statement that can trap on purpose is listed here, with
/// what keeps timing and input from reaching it. What a request, a store, a file or a caller can bring about is an
/// errno instead.
///
/// Not listed: arithmetic and array accesses, which trap by themselves. Numbers from outside are clamped, saturated or
/// checked where they come in.
@Suite struct TrapTests {
  private struct Allowed {
    let file: String
    /// A part of the line.
    let code: String
    let why: String
    init(_ file: String, _ code: String, _ why: String) { (self.file, self.code, self.why) = (file, code, why) }
  }

  private static let neverEmpty = "the buffer has a fixed size, or the loop has found that something is left in it"

  private static let allowed: [Allowed] = [
    Allowed(
      "DatalessCore/Namespace/NodeTable.swift", "precondition(index == .root",
      "the constructor has put one record before it, always"),
    Allowed(
      "DatalessCore/Namespace/NameHashTable.swift", "precondition(new ==",
      "one bucket is appended for each split, under the engine's lock, and nowhere else"),
    Allowed(
      "DatalessCore/Namespace/SegmentedTable.swift", "precondition(index < count",
      "indices come from the tables themselves; those of the kernel (node ids, cookies) are checked before"),
    Allowed(
      "DatalessCore/Namespace/SegmentedTable.swift", "preconditionFailure(\"no memory",
      "memory is overcommitted: only a limit on addresses (RLIMIT_AS) refuses 7 MiB, and then every allocation of Swift traps"
    ),
    Allowed(
      "DatalessCore/Engine/AdaptiveMutex.swift", "precondition(failure == 0",
      "glibc's pthread_mutex_init allocates nothing and does not fail for this kind"),
    Allowed(
      "DatalessDaemon/Lanes/LaneThread.swift", "precondition(failure == 0",
      "lanes are made before anything is mounted; a limit on threads ends the start, not a volume"),
    Allowed("DatalessDaemon/Lanes/LaneThread.swift", "buffer.baseAddress!", neverEmpty),
    Allowed(
      "DatalessDaemon/Volume/ReadBuffer.swift", "precondition(failure == 0",
      "once for a process, which has 1,024 keys of which fewer than ten are used"),
    Allowed(
      "DatalessDaemon/Processes/ProcReader.swift", "precondition(name.utf8CodeUnitCount",
      "names are literals of this file's callers"),
    Allowed("DatalessDaemon/Processes/ProcReader.swift", "buffer.baseAddress!", neverEmpty),
    Allowed("DatalessDaemon/Processes/ThreadIdentityPin.swift", "buffer.baseAddress!", neverEmpty),
    Allowed(
      "DatalessDaemon/Processes/ProcessExecutable.swift", "baseAddress!", "both have the same count, which is not 0"),
    Allowed(
      "DatalessDaemon/EventLog/JSONWriter.swift", "storage.baseAddress!",
      "the storage was made larger than what is in it"),
    Allowed("DatalessDaemon/Lifecycle/CPath.swift", "$0.baseAddress!", "a terminating nil is in it"),
    Allowed("DatalessDaemon/Lifecycle/CPath.swift", "baseAddress!", "a terminating zero is in it"),
    Allowed(
      "DatalessDaemon/Lifecycle/DetachedThread.swift", "argument!", "pthread_create hands on the pointer it was given"),
    Allowed("DatalessCommands/DatalessCommand.swift", "baseAddress!", "a terminating zero is in it"),
    Allowed("DatalessDaemon/Lifecycle/ProcessTree.swift", "buffer.baseAddress!", neverEmpty),
    Allowed("DatalessDaemon/Lifecycle/TimeLimitedCommand.swift", "argv[0]!", "its callers name the command literally"),
    Allowed("DatalessDaemon/Lifecycle/HelperProcess.swift", "buffer.baseAddress!", neverEmpty),
    Allowed("DatalessDaemon/Volume/VolumeStore.swift", "$0.baseAddress!", "a terminating zero is in it"),
    Allowed(
      "DatalessStores/Content/SlabAllocator.swift", "precondition((1...Self.classes)",
      "content of 1 byte to 128 KiB comes here, and nothing else: 1 to 32 pages"),
    Allowed("DatalessStores/Support/SystemCall.swift", "baseAddress!", neverEmpty),
    Allowed("DatalessStores/Support/DirectoryReader.swift", "buffer.baseAddress!", neverEmpty),
    Allowed("DatalessStores/Local/LocalStore+Attributes.swift", "buffer.baseAddress!", neverEmpty),
    Allowed(
      "DatalessStores/Synthetic/SyntheticContent.swift", "buffer.baseAddress!", "words are left, so there is room"),
    Allowed("DatalessStores/Synthetic/SyntheticTree.swift", "widths.last!", "it has the leaves in it from the start"),
    Allowed(
      "FuseKit/HiddenFields.swift", "precondition(failure == 0",
      "once for a process, which has 1,024 keys of which fewer than ten are used"),
    Allowed(
      "FuseKit/Dispatcher.swift", "preconditionFailure(\"libfuse lost",
      "libfuse hands on the pointer that the session was made with"),
    Allowed(
      "DatalessControl/Paths/DirectoryStep.swift", "baseAddress!", "a terminating zero is in it, or its size is fixed"),
    Allowed("DatalessControl/Paths/TrustedDirectory.swift", "baseAddress!", "a terminating zero is in it"),
    Allowed("DatalessDaemon/Lifecycle/PathLocation.swift", "baseAddress!", neverEmpty),
    Allowed("DatalessControl/Log/LogFile.swift", "bytes.baseAddress!", "something is left to be searched"),
    Allowed("DatalessControl/Log/JSONObject.swift", "buffer.baseAddress!", "it has a field"),
    Allowed("DatalessControl/Paths/FileBytes.swift", "baseAddress!", neverEmpty),
    Allowed("DatalessControl/Paths/PathResolver.swift", "baseAddress!", neverEmpty),
    Allowed("DatalessControl/Paths/SessionPaths.swift", "buffer.baseAddress!", neverEmpty),
    Allowed("DatalessCommands/Log/LogPrinter.swift", "sessions[id]!", "put in by the line before"),
    Allowed(
      "DatalessCommands/ExecCommand.swift", "pointers[0]!", "the argument parser wants a command of one word or more"),
    Allowed("DatalessCommands/JSONDestination.swift", "path.baseAddress!", "a terminating zero is in it"),
    Allowed("DatalessCommands/Blocking.swift", "$0!", "set before the semaphore is signalled"),
    Allowed("DatalessCommands/Arguments.swift", "UTF8.encode(scalar)!", "every scalar has a UTF-8 form"),
    Allowed("DatalessCommands/Arguments.swift", "Unicode.Scalar(base", "U+10FF00 and up to 255 more are scalars"),
  ]

  /// The code of a line: without a comment, and without what stands in quotation marks.
  static func code(_ line: Substring) -> String {
    var code = ""
    var isQuoted = false
    var previous: Character = " "
    for character in line {
      if character == "\"", previous != "\\" { isQuoted.toggle() }
      if !isQuoted, character == "/", previous == "/" { return String(code.dropLast()) }
      if !isQuoted { code.append(character) }
      previous = character
    }
    return code
  }

  @Test func everyTrapIsListedWithWhatKeepsItFromBeingReached() {
    // A forced unwrap, `try!` and `as!` look the same.
    let trap = #/\b(precondition|preconditionFailure|fatalError|assert|assertionFailure)\s*\(|[A-Za-z0-9_\)\]]!(?!=)/#
    var used = Set<Int>()
    for file in SourceTests.swiftFiles where file.hasPrefix("Sources/") {
      for (index, line) in Repository.current.lines(of: file).enumerated() {
        let code = Self.code(line)
        guard code.contains(trap) else { continue }
        let known = Self.allowed.indices.filter {
          "Sources/" + Self.allowed[$0].file == file && line.contains(Self.allowed[$0].code)
        }
        #expect(
          !known.isEmpty,
          "\(file):\(index + 1) can trap: answer an errno, or list it here with what keeps it from being reached")
        used.formUnion(known)
      }
    }
    for index in Self.allowed.indices where !used.contains(index) {
      Issue.record("\(Self.allowed[index].file) has no '\(Self.allowed[index].code)' any more")
    }
  }
}
