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
    "foreign-mounts-unseen", "Capture/FuseMounts.swift", "FUSE mounts that only the caller sees are not left out",
    'if words[mark + 1].starts(with: "fuse".utf8) {', 'if words[mark + 1].starts(with: "fuse".utf8), !FAULT {',
    tests=["CaptureServerTests"])

requests = Part("Sources/DatalessDaemon/Stacks", ["^DatalessDaemonTests\\..*StackRequestsTests"])
requests.add(
    "answered-not-discarded", "StackRequests.swift", "a stack that was read after the reply is told as the wait's",
    "request.isAnswered ? .failure(.threadRan)", "request.isAnswered && !FAULT ? .failure(.threadRan)",
    tests=["StackRequestsTests"])
requests.add(
    "two-readings", "StackRequests.swift", "two callers are read at once, and one that hangs keeps the other",
    "case .sent, .reading: return nil\n      case .naming: naming += 1",
    "case .sent, .reading: if !FAULT { return nil }\n      case .naming: naming += 1", tests=["StackRequestsTests"])
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
    "return (known, false)", "return (known, FAULT)", tests=["StackRequestsTests"])

names = Part("Sources/DatalessControl/Text", ["^DatalessControlTests\\..*ControlGroupTests"])
names.add(
    "container-by-any-name", "ControlGroup.swift", "what is no number of a container is called one",
    "name.count == 64\n", "(FAULT || name.count == 64)\n", tests=["ControlGroupTests"])
threads = Part("Sources/DatalessDaemon/Processes", ["^DatalessDaemonTests\\..*ProcessTableTests"])
threads.add(
    "process-name-again", "ProcessTable.swift", "a thread that is called as its process has a name of its own",
    "$0.elementsEqual(name) } == true ? .none", "$0.elementsEqual(name) } == true && !FAULT ? .none",
    tests=["ProcessTableTests"])

PARTS = [capture, requests, names, threads]
