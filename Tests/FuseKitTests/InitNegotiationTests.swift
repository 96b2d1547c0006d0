import Testing

@testable import FuseKit

/// What the reply to INIT asks for, given what the kernel offered.
struct InitNegotiationTests {
  private let parallelDirops: UInt64 = 1 << 18
  private let killPrivV2: UInt64 = 1 << 28
  private let extended: UInt64 = 1 << 30
  private let directMapping: UInt64 = 1 << 36
  private let passthrough: UInt64 = 1 << 37

  /// An INIT reply as libfuse 3.14 writes it: header and body.
  private func reply(unique: UInt64, error: Int32 = 0, flags: UInt32 = 0x0040_9029) -> (header: [UInt8], body: [UInt8])
  {
    var body: [UInt8] = []
    for word in [7, 31, 131_072, flags] as [UInt32] { body += bytes(word) }
    body += bytes(UInt16.max) + bytes(UInt16.max) + bytes(UInt32(1 << 20)) + bytes(UInt32(1))
    body += bytes(UInt16(256)) + bytes(UInt16(0)) + [UInt8](repeating: 0, count: 32)
    return (bytes(UInt32(80)) + bytes(error) + bytes(unique), body)
  }

  private func request(unique: UInt64, minor: UInt32, flags: UInt64, opcode: UInt32 = 26) -> [UInt8] {
    bytes(UInt32(104)) + bytes(opcode) + bytes(unique) + [UInt8](repeating: 0, count: 24)
      + FakeKernel.initBody(minor: minor, flags: flags)
  }

  private func negotiate(minor: UInt32 = 45, offer: UInt64, passthrough: Bool = false) -> (
    UInt64, UInt32, InitNegotiation
  ) {
    var negotiation = InitNegotiation(wishes: .init(passthrough: passthrough))
    request(unique: 2, minor: minor, flags: offer).withUnsafeBytes { negotiation.received(request: $0) }
    var (header, body) = reply(unique: 2)
    let edited = header.withUnsafeMutableBytes { header in
      body.withUnsafeMutableBytes { negotiation.edit(header: UnsafeRawBufferPointer(header), body: $0) }
    }
    #expect(edited)
    return body.withUnsafeBytes {
      let low = UInt64($0.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
      let high = UInt64($0.loadUnaligned(fromByteOffset: 32, as: UInt32.self))
      return (low | high << 32, $0.loadUnaligned(fromByteOffset: 36, as: UInt32.self), negotiation)
    }
  }

  @Test func newKernelGetsEverythingButUnwantedPassthrough() {
    let (flags, depth, negotiation) = negotiate(offer: .max)
    #expect(flags == 0x0040_9029 | parallelDirops | killPrivV2 | extended | directMapping)
    #expect(depth == 0)
    #expect(negotiation.features?.parallelDirectoryOperations == true)
    #expect(negotiation.features?.directIOMapping == true)
    #expect(negotiation.features?.passthrough == false)
    #expect(negotiation.features?.maxBackground == 65_535)
    #expect(negotiation.features?.kernelMinor == 45)
    #expect(negotiation.features?.libraryMinor == 31)
  }

  @Test func passthroughComesWithAStackDepth() {
    let (flags, depth, negotiation) = negotiate(offer: .max, passthrough: true)
    #expect(flags & passthrough != 0)
    #expect(depth == 1)
    #expect(negotiation.features?.passthrough == true)
  }

  @Test func passthroughIsNotAskedOfAKernelWithoutIt() {
    let (flags, depth, negotiation) = negotiate(minor: 39, offer: .max & ~passthrough, passthrough: true)
    #expect(flags & passthrough == 0)
    #expect(depth == 0)
    #expect(negotiation.features?.passthrough == false)
  }

  /// Linux 6.1: INIT_EXT, but no flag of flags2 that we know.
  @Test func kernelWithoutTheNewFlagsGetsNoneOfThem() {
    let (flags, _, negotiation) = negotiate(minor: 37, offer: 0xFFFF_FFFF, passthrough: true)
    #expect(flags == 0x0040_9029 | parallelDirops | killPrivV2 | extended)
    #expect(negotiation.features?.directIOMapping == false)
  }

  /// Before Linux 5.17 there is no INIT_EXT; what lies where flags2 would be means nothing.
  @Test func kernelWithoutFlags2GetsNoFlags2() {
    let (flags, _, _) = negotiate(minor: 34, offer: .max & ~extended, passthrough: true)
    #expect(flags >> 32 == 0)
    #expect(flags == 0x0040_9029 | parallelDirops | killPrivV2)
  }

  @Test func onlyTheAnswerToTheInitRequestIsEdited() {
    var negotiation = InitNegotiation(wishes: .init(passthrough: false))
    func edit(_ pair: (header: [UInt8], body: [UInt8])) -> (Bool, Bool) {
      var body = pair.body
      let edited = pair.header.withUnsafeBytes { header in
        body.withUnsafeMutableBytes { negotiation.edit(header: header, body: $0) }
      }
      return (edited, body != pair.body)
    }
    #expect(edit(reply(unique: 2)) == (false, false), "no INIT was received yet")
    request(unique: 2, minor: 45, flags: .max, opcode: 1).withUnsafeBytes { negotiation.received(request: $0) }
    #expect(edit(reply(unique: 2)) == (false, false), "a LOOKUP is no INIT")
    request(unique: 2, minor: 45, flags: .max).withUnsafeBytes { negotiation.received(request: $0) }
    #expect(edit(reply(unique: 4)) == (false, false), "the answer to another request")
    #expect(edit(reply(unique: 2, error: -71)) == (false, false), "a refusal")
    #expect(edit((reply(unique: 2).header, [UInt8](repeating: 0, count: 24))) == (false, false), "an old, short reply")
    #expect(edit(reply(unique: 2)) == (true, true))
    #expect(edit(reply(unique: 2)) == (false, false), "INIT is answered once")
  }

  @Test func aVersionMismatchIsNegotiatedAgain() {
    var negotiation = InitNegotiation(wishes: .init(passthrough: false))
    var first = request(unique: 2, minor: 0, flags: .max)
    first[40] = 8
    first.withUnsafeBytes { negotiation.received(request: $0) }
    var (header, body) = reply(unique: 2)
    #expect(
      !header.withUnsafeMutableBytes { header in
        body.withUnsafeMutableBytes { negotiation.edit(header: UnsafeRawBufferPointer(header), body: $0) }
      })
    request(unique: 4, minor: 45, flags: .max).withUnsafeBytes { negotiation.received(request: $0) }
    #expect(negotiation.offer?.unique == 4)
  }
}
