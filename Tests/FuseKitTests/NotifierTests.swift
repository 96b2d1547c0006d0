import Glibc
import SystemPackage
import Testing

@testable import FuseKit

/// The bytes of each notification.
struct NotifierTests {
  private let operations = ScriptedOperations()

  private func message(_ notify: (KernelNotifier) -> Errno?) throws -> FakeKernel.Answer {
    let kernel = try FakeKernel(operations)
    try kernel.initialize()
    #expect(notify(kernel.session.notifier) == nil)
    let message = try kernel.receive()
    #expect(message.unique == 0)
    return message
  }

  @Test func attributes() throws {
    let message = try message { $0.invalidateAttributes(FuseNode(rawValue: 5)) }
    #expect(message.error == 2)
    #expect(message.body == bytes(UInt64(5)) + bytes(Int64(-1)) + bytes(Int64(0)))
  }

  @Test func content() throws {
    let message = try message { $0.invalidateContent(FuseNode(rawValue: 5), offset: 10, length: 20) }
    #expect(message.error == 2)
    #expect(message.body == bytes(UInt64(5)) + bytes(Int64(10)) + bytes(Int64(20)))
  }

  @Test func entries() throws {
    let drop = try message { $0.invalidateEntry(Array("abc".utf8), in: .root) }
    #expect(drop.error == 3)
    #expect(drop.body == bytes(UInt64(1)) + bytes(UInt32(3)) + bytes(UInt32(0)) + cString("abc"))
    let expire = try message { $0.expireEntry(Array("abc".utf8), in: .root) }
    #expect(expire.body == bytes(UInt64(1)) + bytes(UInt32(3)) + bytes(UInt32(1)) + cString("abc"))
    let delete = try message { $0.delete(FuseNode(rawValue: 9), named: Array("abc".utf8), in: .root) }
    #expect(delete.error == 6)
    #expect(delete.body == bytes(UInt64(1)) + bytes(UInt64(9)) + bytes(UInt32(3)) + bytes(UInt32(0)) + cString("abc"))
  }

  @Test func epochAndPrune() throws {
    let epoch = try message { $0.expireAllEntries() }
    #expect(epoch.error == 8)
    #expect(epoch.body.isEmpty)
    let prune = try message { $0.prune([FuseNode(rawValue: 5), FuseNode(rawValue: 6)]) }
    #expect(prune.error == 9)
    #expect(prune.body == bytes(UInt32(2)) + bytes(UInt32(0)) + bytes(UInt64(0)) + bytes(UInt64(5)) + bytes(UInt64(6)))
  }

  @Test func nothingIsSentForNothing() throws {
    let kernel = try FakeKernel(operations)
    #expect(kernel.session.notifier.prune([]) == nil)
    #expect(
      kernel.session.notifier.prune([FuseNode](repeating: .root, count: 65_537)) == .invalidArgument)
  }

  @Test func afterTheEndNotificationsFail() throws {
    let kernel = try FakeKernel(operations)
    try kernel.initialize()
    kernel.session.beginExit()
    #expect(kernel.session.joinLoop(timeout: .seconds(10)))
    kernel.session.closeDevice()
    #expect(kernel.session.notifier.invalidateAttributes(.root) == .badFileDescriptor)
  }
}
