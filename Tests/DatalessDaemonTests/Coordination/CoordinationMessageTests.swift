import DatalessCore
import SystemPackage
import TestSupport
import Testing

@testable import DatalessDaemon

/// What clients send is read as a stranger's.
@Suite struct CoordinationMessageTests {
  private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }

  private static func message(
    _ text: String, count: UInt32, version: UInt16 = 1, flags: UInt16 = 0, within: UInt64 = 0, memory: UInt64 = 0
  ) -> [UInt8] {
    let head = bytes(CoordinationHead.magic) + bytes(version) + bytes(flags) + bytes(count)
    return head + bytes(UInt32(text.utf8.count)) + bytes(within) + bytes(memory) + Array(text.utf8)
  }

  private static func read(_ message: [UInt8]) -> Result<CoordinationRequest, CoordinationRefusal> {
    Result { () throws(CoordinationRefusal) in
      let head = try CoordinationHead(message[...])
      return try head.request(message.dropFirst(CoordinationHead.bytes))
    }
  }

  private static func code(_ message: [UInt8]) -> CoordinationCode? {
    if case .failure(let refusal) = read(message) { return refusal.code }
    return nil
  }

  @Test func aRequestIsRead() throws {
    let request = try Self.read(Self.message("ra/b\0w\0", count: 2, flags: 0b10100, within: 7)).get()
    #expect(request.claims == [AccessClaim(Array("a/b".utf8), isWrite: false), AccessClaim([], isWrite: true)])
    #expect(request.within == 7 && request.reads == 1 && request.writes == 1 && request.places == 3)
    #expect(request.options.names == ["moving", "replacing"] && !request.options.contains(.command))
    let command = try Self.read(Self.message("wa\0", count: 1, flags: 0x2000)).get()
    #expect(command.options == .command && command.options.needsWrittenContent && command.options.names.isEmpty)
  }

  @Test func whatIsWrongHasAName() {
    #expect(Self.code([]) == .badRequest)
    #expect(Self.code(Array(repeating: 0, count: 40)) == .badRequest)
    #expect(Self.code(Self.message("ra\0", count: 1, version: 2)) == .badRequest)
    #expect(Self.code(Self.message("ra\0", count: 1, flags: 0x20)) == .badRequest)
    #expect(Self.code(Self.message("ra\0", count: 1, flags: 0xC000)) == .badRequest)
    #expect(Self.code(Self.message("ra\0", count: 2)) == .badRequest)
    #expect(Self.code(Self.message("ra\0", count: 0)) == .badRequest)
    #expect(Self.code(Self.message("ra", count: 1)) == .badRequest)
    #expect(Self.code(Self.message("xa\0", count: 1)) == .badRequest)
    #expect(Self.code(Self.message("ra\0", count: 1, memory: 5)) == .badRequest)
    #expect(Self.code(Self.message("ra\0", count: 100_001)) == .tooManyPaths)
    #expect(Self.code(Self.message("", count: 5, memory: 1 << 40)) == .tooManyPaths)
    for path in ["/a", "a/", "a//b", "a/../b", "..", ".", "a/.", String(repeating: "x", count: 1025)] {
      #expect(Self.code(Self.message("r\(path)\0", count: 1)) == .badPath, "\(path)")
    }
    // A presenter has one path, and an answer none.
    #expect(Self.code(Self.message("ra\0rb\0", count: 2, flags: 0x8000)) == .badRequest)
    #expect(Self.code(Self.message("ra\0", count: 1, flags: 0x4000)) == .badRequest)
    // So has the end.
    #expect((try? CoordinationHead(Self.message("", count: 0, flags: 0xC000)[...]))?.kind == .end)
  }

  @Test(arguments: TestSeed.seeds) func nothingIsReadBeyondTheMessage(seed: UInt64) {
    var random = TestRandom(seed: seed)
    let sample = Self.message("ra/b\0wc\0r\0", count: 3, flags: 4, within: 9)
    for _ in 0..<20_000 {
      var message = sample
      for _ in 0...random.below(4) { message[random.below(message.count)] = random.byte() }
      if random.oneIn(3) { message.removeLast(random.below(message.count)) }
      guard case .success(let request) = Self.read(message) else { continue }
      #expect(request.claims.count == request.reads + request.writes, "seed \(seed)")
      #expect(request.claims.allSatisfy { $0.path.count < 4096 }, "seed \(seed)")
    }
  }

  @Test func anAnswerIsWhatClientsRead() {
    let refusal = CoordinationRefusal(.deadlock, "a circle")
    let answer = CoordinationAnswer(refusal, of: 5).encoded
    #expect(answer.count == CoordinationAnswer.bytes + 8)
    #expect(Array(answer[4..<8]) == [1, 0, 1, 0] && answer[8] == UInt8(Errno.canceled.rawValue) && answer[16] == 5)
    #expect(Array(answer[CoordinationAnswer.bytes...]) == Array("a circle".utf8))
    let news = CoordinationAnswer(.write, about: 6, path: Array("d/x".utf8), others: 2).encoded
    #expect(Array(news[4..<8]) == [3, 0, 2, 0] && news[16] == 6 && news[32] == 2 && news.count == 43)
  }
}
