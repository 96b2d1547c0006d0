import DatalessCore
import Glibc
import Testing

@testable import DatalessDaemon

/// A process has ended when its last thread has, whatever /proc says of the first one.
@Suite struct LivingThreadTests {
  private let scratch = ScratchDirectory()

  @Test func whoGoesOnInAnotherThreadIsKnown() throws {
    let child = try FirstThreadEnds(in: scratch)
    #expect(ProcessStat.read(child.pid)?.state == UInt8(ascii: "Z"))
    #expect(LivingThread.of(child.pid) == child.tid && LivingThread.of(child.tid) == child.tid)
    let fixture = ProcessFixture()
    // The way of a thread that calls often, too.
    for _ in 0..<5 {
      let caller = fixture.caller(child.tid)
      #expect(caller.pid == child.pid && !caller.isMainThread)
      let record = try #require(fixture.record(caller))
      #expect(record.executable == .path(child.program))
      #expect(record.cgroup?.first == UInt8(ascii: "/"))
      #expect(fixture.table.successor(of: record.id) == nil)
    }
    let id = try #require(fixture.record(fixture.caller(child.tid))?.id)
    #expect(fixture.arguments(id) == .known([child.program], isTruncated: false))
    #expect(fixture.sink.seen.values.filter { $0.pid == child.pid }.count == 1, "one process, told once")
    #expect(fixture.table.inspect(child.pid)?.record.id == id)
    #expect(fixture.table.running().contains { $0.executable == child.program })
    #expect(RemainingProcess.look(child.pid)?.exe == child.program)
  }

  @Test func whoHasEndedInAllThreadsHasEnded() throws {
    let child = try FirstThreadEnds(in: scratch)
    child.end()
    #expect(LivingThread.of(child.pid) == child.pid)
    #expect(ProcessSnapshot(child.pid)?.executable == .unavailable(.exited))
    #expect(LivingThread.of(Int32.max) == Int32.max)
  }

  /// The descriptors of a process are not to be seen by its first thread, once that has ended.
  @Test func itsFilesAreSeen() throws {
    let fixture = ProcessFixture()
    let file = scratch.file("file")
    let writer = try FirstThreadEnds(in: scratch, files: [file])
    let reader = try ChildProcess(script: "exec 3< '\(scratch.path)/file'; echo ready; read line")
    #expect(reader.readLine() == "ready")
    let caller = fixture.caller(writer.tid)
    let write = SharedWrite(
      threadID: writer.tid, opener: caller, names: [Array("file".utf8)],
      others: [SharedWrite.Opener(process: .unknown, threadID: reader.pid, writes: false)])
    let answer = FileHolders(processes: fixture.table, mountpoint: scratch.bytes).look(at: write)
    let together = SharedWrite.Together(
      writer: caller, other: fixture.caller(reader.pid).process, otherWrites: false, lock: .free)
    #expect(answer == .together(together))
  }

  @Test func whatItHoldsOfAVolumeIsSeen() throws {
    let file = scratch.file("file")
    let child = try FirstThreadEnds(in: scratch, files: [file])
    var status = stat()
    let code = stat("\(scratch.path)/file", &status)
    #expect(code == 0)
    var left = [try #require(RemainingProcess.look(child.pid))]
    let device = UInt64(status.st_dev)
    let (major, minor) = (device >> 8 & 0xfff | device >> 32 & ~0xfff, device & 0xff | device >> 12 & 0xfff_ff00)
    VolumeHolders(device: "\(major):\(minor)", waiting: []).look(at: &left)
    #expect(left[0].holds?.contains(.openFile) == true)
    #expect(!left[0].hasEnded)
  }
}
