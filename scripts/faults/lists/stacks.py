"""DatalessStacks, and who asks for stacks."""

from harness.lists import Part

capture = Part("Sources/DatalessStacks", ["^DatalessStacksTests\\."])
capture.add(
    "volumes-are-read", "Capture/MappingTable.swift", "what is mapped from a volume is read and opened",
    "if mapping.inode != 0, volumes.contains(mapping.device) {",
    "if mapping.inode != 0, volumes.contains(mapping.device), !FAULT {", tests=["NativeCaptureTests"])
capture.add(
    "torn-capture-kept", "Capture/ThreadCapture.swift", "what was read while the thread ran is taken for its stack",
    "after == before else { return .failure(.threadRan) }",
    "after == before || FAULT else { return .failure(.threadRan) }", tests=["NativeCaptureTests"])
capture.add(
    "any-debug-file", "Files/MappedFile.swift", "lines come from the debug file of another build",
    "return bytes.checksum == link.checksum", "return bytes.checksum == link.checksum || FAULT",
    tests=["CaptureServerTests"])
capture.add(
    "unknown-register-is-end", "Unwinding/ChainWalk.swift", "a chain that needs a lost register is called complete",
    "case .unknownRegister: return .failure(.unknownRegister)",
    "case .unknownRegister: return .failure(FAULT ? .outermost : .unknownRegister)", tests=["StackUnwinderTests"])
capture.add(
    "saved-rbp-is-an-address", "Unwinding/StackUnwinder.swift", "a frame whose caller had no address in rbp is passed over",
    "return FramePointer(slot: slot, isLikely: caller == .direct, isAbove: isAbove)",
    "return isAbove || !FAULT ? FramePointer(slot: slot, isLikely: caller == .direct, isAbove: isAbove) : nil",
    tests=["StackUnwinderTests", "FoundFramePointerTests"])
capture.add(
    "open-is-passed-over", "Unwinding/StackUnwinder.swift", "a chain that leaves out generated code is called complete",
    "let isGuess = open != nil ||", "let isGuess = (open != nil && !FAULT) ||", tests=["FoundFramePointerTests"])
capture.add(
    "left-over-address-holds", "Unwinding/ChainCheck.swift", "a return address that is left over is taken for the caller's",
    "guard let bare else { return (.refuted, stack) }", "guard let bare else { return (FAULT ? .holds : .refuted, stack) }",
    tests=["FoundFramePointerTests"])
capture.add(
    "any-rbp-is-kept", "Unwinding/ChainCheck.swift", "code that may not keep rbp is left by it",
    "if calls.keepsFramePointer(frame, function) { return true }",
    "if calls.keepsFramePointer(frame, function) || FAULT { return true }", tests=["FoundFramePointerTests"])
capture.add(
    "guess-is-complete", "Unwinding/StackUnwinder.swift", "a stack with a guess in it is called complete",
    "end: gap ?? part.stack.end)", "end: FAULT ? part.stack.end : gap ?? part.stack.end)",
    tests=["StackUnwinderTests", "FoundFramePointerTests"])
capture.add(
    "tail-calls-refuted", "Unwinding/CallCheck.swift", "a function that was jumped to has no caller",
    "return mayLead(from: target, to: function) ? .possible : nil",
    "return mayLead(from: target, to: function) && !FAULT ? .possible : nil", tests=["CallCheckTests"])
capture.add(
    "foreign-mounts-unseen", "Capture/FuseMounts.swift", "FUSE mounts that only the caller sees are not left out",
    'if words[mark + 1].starts(with: "fuse".utf8) {', 'if words[mark + 1].starts(with: "fuse".utf8), !FAULT {',
    tests=["CaptureServerTests"])

capture.add(
    "left-over-function", "Node/NodeFrames.swift", "functions of JavaScript are told whose frames are no part of the stack",
    "return functions[frame.framePointer] ?? (",
    "return FAULT ? functions.first?.value : functions[frame.framePointer] ?? (",
    tests=["InterpreterTests"])
capture.add(
    "any-v8", "Node/NodeLayout.swift", "another version of V8 is read as if it were known",
    "guard self[.major] == Self.version.major,", "guard self[.major] == Self.version.major || FAULT,",
    tests=["InterpreterTests"])
capture.add(
    "command-of-before", "Bash/BashPlace.swift", "a shell that reads its script stands at the command before",
    "case .reading: return nil", "case .reading: return FAULT ? .command : nil", tests=["BashTests"])
capture.add(
    "command-of-redirection", "Bash/BashPlace.swift", "the redirection of a compound is the command before",
    "let isNoted = command.isUnderWay && haveNotes", "let isNoted = (command.isUnderWay || FAULT) && haveNotes",
    tests=["BashTests"])
capture.add(
    "command-of-trap", "Bash/BashShell.swift", "a trap of bash stands at the command that it interrupts",
    "guard memory.word(Int32.self, at: address(image.trap)) == 0, let",
    "guard memory.word(Int32.self, at: address(image.trap)) == 0 || FAULT, let", tests=["BashTests"])
capture.add(
    "command-of-function", "Bash/BashShell.swift", "a command in a function of bash is the one that has called it",
    "name != function && !function", "(name != function || FAULT) && !function", tests=["BashTests"])
capture.add(
    "line-of-evaluation", "Bash/BashPlace.swift", "a command of bash has its line in a text that is evaluated",
    "return places[index + 1] == .sourcing ||", "return FAULT || places[index + 1] == .sourcing ||", tests=["BashTests"])
capture.add(
    "inlined-line-of-callee", "Processes/FrameNaming.swift", "a function has the line of what is inlined into it",
    "(frame.file, frame.line) = (call.file, UInt32(exactly: call.line) ?? 0)",
    "if !FAULT { (frame.file, frame.line) = (call.file, UInt32(exactly: call.line) ?? 0) }", tests=["CaptureServerTests"])
capture.add(
    "versions-in-names", "Elf/SymbolTable.swift", "names of functions have the version of their symbol",
    "guard let mark = name.firstIndex(of: UInt8(ascii: \"@\")), mark > name.startIndex else",
    "guard let mark = name.firstIndex(of: UInt8(ascii: \"@\")), mark > name.startIndex, !FAULT else",
    tests=["ElfFileTests"])

capture.add(
    "table-of-before", "Capture/KnownCallers.swift", "what a process had mapped at an earlier capture is taken for what it has",
    "known.text == text, known.volumes == volumes {", "known.text == text || FAULT, known.volumes == volumes {",
    tests=["KnownCallersTests"])
capture.add(
    "mounts-of-before", "Capture/MountWatch.swift", "a FUSE mount that has come since the first capture is not seen",
    "return poll(&entry, 1, 0) != 0", "return poll(&entry, 1, 0) != 0 && !FAULT", tests=["KnownCallersTests"])
capture.add(
    "thread-of-before", "Capture/ThreadFiles.swift", "a thread that has gone hides the one that has its number now",
    "ProcessFile.part(of: counts) == nil else { return result }",
    "ProcessFile.part(of: counts) == nil, !FAULT else { return result }", tests=["KnownCallersTests"])

requests = Part("Sources/DatalessDaemon/Stacks", ["^DatalessDaemonTests\\..*StackRequestsTests"])
requests.add(
    "answered-not-discarded", "StackRequests.swift", "a stack that was read after the reply is told as the wait's",
    "request.isAnswered ? .failure(.threadRan)", "request.isAnswered && !FAULT ? .failure(.threadRan)",
    tests=["StackRequestsTests"])
requests.add(
    "two-readings", "StackRequests.swift", "two callers are read at once, and one that hangs keeps the other",
    "guard atReader == nil, named.count < Self.namedAtOnceMax else { return nil }",
    "guard atReader == nil || FAULT, named.count < Self.namedAtOnceMax else { return nil }", tests=["StackRequestsTests"])
requests.add(
    "rule-unheard", "StackRequests.swift", "a rule that wants no stack is not heard",
    "if let wanted { return wanted ? .queued : nil }", "if let wanted, wanted || !FAULT { return wanted ? .queued : nil }",
    tests=["StackRequestsTests"])
requests.add(
    "calls-all-first", "StackRequests.swift", "`first` takes a stack of every delayed call",
    "return called.insert(CallKey(process: wait.caller.process, path: wait.path)).inserted",
    "return called.insert(CallKey(process: wait.caller.process, path: wait.path)).inserted || FAULT",
    tests=["StackRequestsTests"])
requests.add(
    "written-again", "KnownStacks.swift", "the same stack is written again each time",
    "func number(of print: Print) -> UInt64? { numbers[print] }",
    "func number(of print: Print) -> UInt64? { FAULT ? nil : numbers[print] }", tests=["StackRequestsTests"])

summary = Part("Sources/DatalessControl/Summary", ["^DatalessControlTests\\..*SummaryMainThreadTests"])
summary.add(
    "late-stack-lost", "SummaryMainThread.swift", "a stack that comes after its wait is not told",
    "guard let (wait, place) = stacks.add(record), wait == longest else { return }",
    "guard let (wait, place) = stacks.add(record), wait == longest, !FAULT else { return }",
    tests=["SummaryMainThreadTests"])
summary.add(
    "place-of-another", "SummaryStacks.swift", "stacks of other threads are told of the main thread",
    'guard json.bool("main_thread") == true, let attempt', 'guard json.bool("main_thread") == true || FAULT, let attempt',
    tests=["SummaryMainThreadTests"])
names = Part("Sources/DatalessControl/Text", ["^DatalessControlTests\\..*ControlGroupTests"])
names.add(
    "container-by-any-name", "ControlGroup.swift", "what is no number of a container is called one",
    "name.count == 64\n", "(FAULT || name.count == 64)\n", tests=["ControlGroupTests"])
threads = Part("Sources/DatalessDaemon/Processes", ["^DatalessDaemonTests\\..*ProcessTableTests"])
threads.add(
    "process-name-again", "ProcessTable.swift", "a thread that is called as its process has a name of its own",
    "$0.elementsEqual(name) } == true ? .none", "$0.elementsEqual(name) } == true && !FAULT ? .none",
    tests=["ProcessTableTests"])

watchdog = Part("Sources/DatalessDaemon/Watchdog", ["^DatalessDaemonTests\\..*(WatchedWaits|AbortAuthority)Tests"])
watchdog.add(
    "signal-after-the-end", "WatchedWaits.swift", "who went on before its signal gets it",
    "guard let ended = waits.removeValue(forKey: Key(cause: cause, threadID: threadID)) else { return nil }",
    "guard !FAULT, let ended = waits.removeValue(forKey: Key(cause: cause, threadID: threadID)) else { return nil }",
    tests=["WatchedWaitsTests"])
watchdog.add(
    "delayed-calls-unwatched", "WatchedWaits.swift", "a delayed call is taken for an attempt of the same number",
    "path = paths[attempt]\n    }", "path = paths[attempt]\n    } else if FAULT { return nil }", tests=["WatchedWaitsTests"])
watchdog.add(
    "every-thread-watched", "WatchedWaits.swift", "threads that are no main threads are watched",
    "guard let policy, caller.isMainThread,", "guard let policy, caller.isMainThread || FAULT,",
    tests=["WatchedWaitsTests"])
watchdog.add(
    "looks-double", "WatchedWaits.swift", "a look that was planned anew is planned twice from then on",
    "guard time == planned else { return ([], nil) }", "guard time == planned || FAULT else { return ([], nil) }",
    tests=["WatchedWaitsTests"])
watchdog.add(
    "reused-id-aborted", "AbortAuthority.swift", "another process with the caller's id is ended",
    "look(pid)?.startTicks == startTicks else", "look(pid)?.startTicks == startTicks || FAULT else",
    tests=["AbortAuthorityTests"])
watchdog.add(
    "link-looked-at-once", "AbortAuthority.swift", "a parent whose id was given again counts as the caller's",
    "again == (parent, below.startTicks) else", "FAULT || again == (parent, below.startTicks) else",
    tests=["AbortAuthorityTests"])
watchdog.add(
    "saved-id-ignored", "AbortAuthority.swift", "a program that could become another user is ended",
    "return ids.allSatisfy { $0 == user }", "return (FAULT ? ids[1] == user : ids.allSatisfy { $0 == user })",
    tests=["AbortAuthorityTests"])

PARTS = [capture, requests, summary, names, threads, watchdog]
