import Glibc
import TestSupport
import Testing

@testable import DatalessStacks

/// What the processes say to each other: what was said arrives, and nothing else is taken for it.
@Suite struct StackProtocolTests {
  static let stack = NamedStack(
    frames: [
      NamedFrame(
        module: Array("/usr/bin/fm".utf8), buildID: BuildID([1, 2, 3, 4]), offset: 0x1139,
        symbol: Array("load_thumbnail".utf8), file: Array("fm.c".utf8), line: 42, certainty: .framePointerFound),
      NamedFrame(module: [], offset: .max, certainty: .guessed),
    ],
    end: .unknownRegister,
    interpreted: InterpretedStack(
      language: Array("python".utf8), isReadable: true, isComplete: true,
      frames: [InterpretedFunction(function: Array("load".utf8), file: Array("fm.py".utf8), line: nil)]),
    problem: Array("no libdw".utf8))

  static var order: SymbolOrder {
    let mapping = Mapping(
      executableFrom: 0x1000, to: 0x3000, fileOffset: 0, device: DeviceNumber(major: 8, minor: 1), inode: 7,
      path: Array("/bin/x".utf8))
    var capture = ThreadCapture(
      registers: ThreadRegisters(call: nil, stackPointer: 0x7000, programCounter: 0x1010),
      mappings: MappingTable(mappings: [mapping], onVolumes: [0x4000..<0x5000]),
      copy: StackCopy(start: 0x7000, bytes: [1, 2, 3, 4, 5, 6, 7, 8]))
    capture.framedCode = [0x6000..<0x6100, 0x6100..<0x6200]
    return SymbolOrder(capture: capture, files: [SymbolOrder.File(device: mapping.device, inode: 7)])
  }

  @Test func whatIsSaidArrives() throws {
    for answer in [CaptureAnswer.stack(Self.stack), .failure(.memoryLocked), .failure(.threadRan)] {
      #expect(CaptureAnswer(answer.bytes) == answer)
    }
    let order = CaptureOrder(processID: 7, threadID: 8, volumes: [DeviceNumber(major: 0, minor: 51)])
    #expect(CaptureOrder(order.bytes) == order)
    #expect(SymbolOrder(Self.order.bytes) == Self.order)
    let question = DebugFileQuestion(file: Self.order.files[0], buildID: [1, 2], link: Array("x.debug".utf8))
    #expect(DebugFileQuestion(question.bytes) == question)
    let images: [InterpreterImage?] = [
      nil, .python(PythonImage(runtime: 5, version: nil)), .python(PythonImage(runtime: 5, version: 9)), .unknownNode,
      .unknownPython,
      BashImage(words: Array(1...10)).map { .bash($0) }, NodeLayout(NodeMemory.values).map { .node($0) },
    ]
    for image in images {
      #expect(InterpreterIdentity(InterpreterIdentity(image: image).bytes) == InterpreterIdentity(image: image))
    }
  }

  @Test func aStackOfLongTextsFitsInOneMessage() throws {
    let frame = NamedFrame(
      module: Array(repeating: 1, count: 10_000), offset: 1, symbol: Array(repeating: 2, count: 1 << 20),
      file: Array(repeating: 3, count: 9000), certainty: .tables)
    let bytes = CaptureAnswer.stack(NamedStack(frames: Array(repeating: frame, count: 900), end: .tooDeep)).bytes
    #expect(bytes.count <= StackMessage.contentMax)
    guard case .stack(let stack)? = CaptureAnswer(bytes) else {
      Issue.record("not read back")
      return
    }
    #expect(stack.frames.count == Stack.framesMax)
  }

  @Test func descriptorsComeWithTheirMessage() throws {
    let (here, there) = try #require(StackSocket.pair())
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    try here.send(StackMessage(.debugFile, number: 3, content: [9]), descriptors: [ends[0], ends[1]])
    try here.send(StackMessage(.reading, number: 4))
    let (message, descriptors) = try there.receive()
    #expect(message == StackMessage(.debugFile, number: 3, content: [9]))
    #expect(descriptors.count == 2)
    #expect(descriptors.allSatisfy { fcntl($0, F_GETFD) == FD_CLOEXEC })
    for descriptor in descriptors + ends { close(descriptor) }
    #expect(try there.receive().message.number == 4)
  }

  @Test(
    arguments: [
      [0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0], [0, 0, 0, 0, 99, 0, 0, 0], [1, 0, 0x10, 0, 1, 0, 0, 0], [1],
    ] as [[UInt8]])
  func whoeverSaysNoMessageCountsAsGone(head: [UInt8]) throws {
    let (here, there) = try #require(StackSocket.pair())
    write(here.descriptor, head + Array(repeating: 0, count: head.count == 8 ? 8 : 0), head.count == 8 ? 16 : 1)
    shutdown(here.descriptor, Int32(SHUT_WR))
    #expect(throws: StackSocket.Gone.self) { try there.receive() }
  }

  @Test(arguments: TestSeed.seeds) func foreignBytesAreReadOrRefused(seed: UInt64) throws {
    let messages = [
      CaptureAnswer.stack(Self.stack).bytes, Self.order.bytes,
      CaptureOrder(processID: 1, threadID: 2, volumes: [DeviceNumber(major: 1, minor: 2)]).bytes,
      DebugFileQuestion(file: Self.order.files[0], buildID: [1, 2], link: [3]).bytes,
      InterpreterIdentity(image: .python(PythonImage(runtime: 1, version: 2))).bytes,
      InterpreterIdentity(image: NodeLayout(NodeMemory.values).map { .node($0) }).bytes,
    ]
    try Fuzz.run("stacks: messages", seed: seed, cases: 2000) { random, note in
      var bytes = random.element(of: messages)
      for _ in 0..<(1 + random.below(4)) where !bytes.isEmpty {
        switch random.below(3) {
        case 0: bytes[random.below(bytes.count)] = random.element(of: [0, 1, 0x7f, 0xff, UInt8(random.below(256))])
        case 1: bytes.removeLast(random.below(bytes.count))
        default: bytes.append(UInt8(random.below(256)))
        }
      }
      // Whatever is accepted says the same when it is said again.
      if let answer = CaptureAnswer(bytes) { #expect(CaptureAnswer(answer.bytes) == answer, "\(note)") }
      if let order = SymbolOrder(bytes) { #expect(SymbolOrder(order.bytes) == order, "\(note)") }
      if let order = CaptureOrder(bytes) { #expect(CaptureOrder(order.bytes) == order, "\(note)") }
      _ = DebugFileQuestion(bytes)
      _ = InterpreterIdentity(bytes)
    }
  }
}
