import DatalessControl
import Glibc
import TestSupport
import Testing

@testable import DatalessDaemon

/// Texts of /proc in which processes have a say: their names, arguments, and what later kernels write. Whatever is
/// there, the parsers end, and take nothing from outside of it.
@Suite struct ProcFuzzTests {
  private static func samples(_ name: String) -> [[UInt8]] {
    [getpid(), 1].compactMap { try? FileBytes.read("/proc/\($0)/\(name)") } + [[]]
  }

  private static let mutation = TextMutation(
    separators: " \t:\n",
    words: [
      "(", ")", ") S 1", "a) S 1 (b", "0x3", "0x", "-1", "running", "unlimited", "Max file locks", "Uid:", "Tgid:",
      "Name:",
    ])

  private static func mutated(_ samples: [[UInt8]], _ random: inout TestRandom) -> [UInt8] {
    let text = random.element(of: samples)
    return random.oneIn(3) ? ByteMutation.mutated(text, &random, others: samples) : mutation.mutated(text, &random)
  }

  @Test(arguments: TestSeed.seeds) func statLines(seed: UInt64) throws {
    let samples = Self.samples("stat")
    try Fuzz.run("/proc/ID/stat", seed: seed, cases: 600) { random, note in
      // A process may have any name, and the line is read all the same.
      let name = ByteMutation.mutated(Array("tool".utf8), &random).filter { $0 != 0 && $0 != 0x0a }.prefix(15)
      let parent = Int32(random.below(1 << 22))
      let start = random.next() >> 1
      let line =
        Array("7 (".utf8) + name + Array(") S \(parent) 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 \(start) 9".utf8)
      let stat = line.withUnsafeBufferPointer { ProcessStat($0) }
      #expect(stat?.parent == parent && stat?.startTicks == start, "\(note)")
      #expect(stat.map { Array(line[$0.comm]) } == Array(name), "\(note)")
      let text = Self.mutated(samples + [line], &random)
      text.withUnsafeBufferPointer { buffer in
        guard let stat = ProcessStat(buffer) else { return }
        #expect(stat.parent >= 0 && buffer.indices.contains(stat.comm.lowerBound), "\(note)")
        #expect(stat.comm.upperBound <= buffer.count, "\(note)")
      }
    }
  }

  @Test(arguments: TestSeed.seeds) func statusTexts(seed: UInt64) throws {
    let samples = Self.samples("status")
    let random = samples[0].withUnsafeBufferPointer { ProcessStatus($0) }
    #expect(random?.threadGroup == getpid() && random?.uid == geteuid())
    try Fuzz.run("/proc/ID/status", seed: seed, cases: 150) { random, note in
      let text = Self.mutated(samples, &random)
      let status = text.withUnsafeBufferPointer { ProcessStatus($0) }
      #expect(status.map { $0.threadGroup >= 0 } ?? true, "\(note)")
      _ = status?.hasPendingFatalSignal
    }
  }

  @Test(arguments: TestSeed.seeds) func limits(seed: UInt64) throws {
    let samples = Self.samples("limits")
    try Fuzz.run("/proc/ID/limits", seed: seed, cases: 200) { random, note in
      let number = random.oneIn(4) ? random.next() : UInt64(random.below(1 << 20))
      let line = Array("Max file locks            \(number)            unlimited            locks     \n".utf8)
      let text = random.element(of: samples).prefix { _ in random.oneIn(2) } + line
      let told = Array(text).withUnsafeBufferPointer { PolicyProbe.softLockLimit($0) }
      #expect(told == number || text.count > line.count, "\(note)")
      Self.mutated(samples + [line], &random).withUnsafeBufferPointer { _ = PolicyProbe.softLockLimit($0) }
    }
  }

  @Test(arguments: TestSeed.seeds) func arguments(seed: UInt64) throws {
    let samples = [
      "bash\0-euo\0pipefail\0a.sh\0--x", "python3\0-m\0pytest\0", "node\0--inspect=1\0a/b.js\0", "sh\0-c\0code\0",
      "\0\0", "php\0--\0x",
    ].map { Array($0.utf8) }
    try Fuzz.run("/proc/ID/cmdline", seed: seed, cases: 500) { random, note in
      let text = ByteMutation.mutated(random.element(of: samples), &random, others: samples)
      guard case .known(let list, let isTruncated) = ProcessArguments.split(text) else { return }
      #expect(list.count <= ProcessArguments.maximumCount, "\(note)")
      #expect(list.reduce(0) { $0 + $1.count } <= ProcessArguments.maximumBytes, "\(note)")
      if !isTruncated {
        let joined = Array(list.joined(separator: [0]))
        #expect(joined == text || joined + [0] == text, "\(note)")
      }
      for exe in ["/bin/bash", "/usr/bin/python3.12", "/usr/bin/node", "/usr/bin/php8.2"] {
        let script = ScriptName.find(in: list, isTruncated: isTruncated, executable: Array(exe.utf8))
        // Never more than one name, and none with anything of a command line in it.
        #expect(script.map { (1...255).contains($0.count) && !$0.contains { $0 < 0x20 } } ?? true, "\(note)")
      }
    }
  }

  @Test(arguments: TestSeed.seeds) func callsAndGroups(seed: UInt64) throws {
    let calls = ["0 0x3 0x7ffd 0x1000 0x0 0x0 0x0 0x7ffd 0x7f", "-1 0x7ffd 0x7f", "running", "17 0xffffffffffffffff"]
      .map { Array($0.utf8) }
    let groups = Self.samples("cgroup") + [Array("12:pids:/x\n1:name=systemd:/z\n0::/y\n".utf8)]
    try Fuzz.run("/proc/ID/syscall, cgroup", seed: seed, cases: 500) { random, note in
      let call = Self.mutated(calls, &random)
      call.withUnsafeBufferPointer { buffer in
        _ = BlockedCall.pageWait(buffer, readsThroughCache: random.oneIn(2))
        _ = BlockedCall.descriptor(buffer)
      }
      let text = Self.mutated(groups, &random)
      #expect((ProcessTable.cgroup(text)?.count ?? 0) <= text.count, "\(note)")
    }
  }

  @Test(arguments: TestSeed.seeds) func whatADaemonSaysWhenItStarts(seed: UInt64) throws {
    let volume = ReadyVolume(
      mountpoint: [0x2f, 0xff], log: Array("/l".utf8), session: "0123456789ab", pid: 7, device: "0:52", warnings: ["w"])
    let samples = try [ReadyMessage.ready(volume).line(), ReadyMessage.error(message: "x", exitCode: 3).line()]
      .compactMap { JSONNode($0) }
    try Fuzz.run("first message", seed: seed, cases: 150) { random, note in
      let text = JSONMutation.mutated(random.element(of: samples), &random, others: samples) + [0x0a]
      do throws(ControlError) {
        guard let message = try ReadyMessage.first(in: text) else { return }
        #expect(try ReadyMessage.first(in: try message.line()) == message, "\(note)")
      } catch {
        #expect(error.code == .malformed, "\(note)")
      }
    }
  }
}
