import SystemPackage
import TestSupport
import Testing

@testable import DatalessControl

/// What daemons leave for commands, and what the kernel says is mounted: names in it are any user's.
@Suite struct RecordFuzzTests {
  @Test(arguments: TestSeed.seeds) func aSessionRecordIsReadOrRefused(seed: UInt64) throws {
    let odd: [UInt8] = [0x2f, 0xff, 0x0a]
    let samples = [odd, bytes("/m")].compactMap { path -> JSONNode? in
      let record = SessionRecord(
        pid: 7, session: "0123456789ab", mountpoint: path, source: path, log: path, cache: path,
        started: "2026-01-02T03:04:05.000000000Z", subtype: "x")
      return (try? record.encoded()).flatMap { JSONNode($0) }
    }
    try #require(samples.count == 2)
    try Fuzz.run("session.json", seed: seed, cases: 300) { random, note in
      let text = JSONMutation.mutated(random.element(of: samples), &random, others: samples + FuzzSamples.wire)
      do throws(ControlError) {
        let record = try WireCoding.decode(SessionRecord.self, from: text, named: "/run/x/session.json")
        let again = try WireCoding.decode(SessionRecord.self, from: try record.encoded(), named: "it")
        #expect(again == record, "\(note)")
        _ = [record.mountpointBytes, record.sourceBytes, record.logBytes, record.cacheBytes].map {
          PathBytes.components($0)
        }
      } catch {
        #expect(error.code == .malformed && error.message.contains("/run/x/session.json"), "\(note): \(error)")
        #expect(isSafe(error.message), "\(note): \(TerminalText.escaped(error.message))")
      }
    }
  }

  private static let table = bytes(
    """
    21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
    22 21 0:21 / /proc rw,nosuid - proc proc rw
    90 21 0:50 / /mnt/a\\040b ro,nosuid shared:5 master:2 - fuse.dataless /src\\011x rw,user_id=1000,group_id=0
    91 90 0:51 /sub /mnt/a\\040b/in ro - fuse.dataless /src rw,user_id=0
    92 21 0:52 / /mnt/a\\040b rw - fuse other rw,user_id=4294967295
    """)

  @Test(arguments: TestSeed.seeds) func aMountTableIsReadAndWalkedToItsEnd(seed: UInt64) throws {
    let mutation = TextMutation(
      separators: " ,=:",
      words: ["-", "fuse.dataless", "user_id=0", "0:50", "90", "21", "/mnt", "\\134", "\\0", "\\777"])
    try Fuzz.run("mount table", seed: seed, cases: 150) { random, note in
      let table = MountTable(parsing: mutation.mutated(Self.table, &random))
      #expect(table.entries.count <= 400, "\(note)")
      for path in ["", "/", "/mnt/a b/in/x", "/mnt", "/proc/1"].map({ bytes($0) })
        + table.entries.prefix(5).map(\.mountPoint)
      {
        let found = table.mount(containing: path)
        #expect(found.map { PathBytes.isPrefix($0.mountPoint, of: path) } ?? true, "\(note)")
        _ = (table.datalessMount(containing: path), table.datalessMount(at: path))
      }
      for entry in table.entries {
        #expect(MountEntry(line: Self.line(of: entry)) == entry, "\(note)")
        _ = entry.userID
      }
      let resolver = PathResolver(
        mounts: table, workingDirectory: { () throws(ControlError) in bytes("/w") }, readLink: { _ in nil })
      for entry in table.entries.prefix(5) { _ = try? resolver.resolve(entry.mountPoint + bytes("/../x")) }
    }
  }

  /// As the kernel writes it.
  private static func line(of entry: MountEntry) -> [UInt8] {
    func escaped(_ bytes: some Collection<UInt8>) -> [UInt8] {
      bytes.flatMap { byte -> [UInt8] in
        guard byte <= 0x20 || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "#") else { return [byte] }
        return [0x5c] + [byte >> 6, byte >> 3 & 7, byte & 7].map { 0x30 + $0 }
      }
    }
    let fields: [[UInt8]] = [
      bytes("\(entry.mountID)"), bytes("\(entry.parentID)"), escaped(entry.device.utf8), escaped(entry.root),
      escaped(entry.mountPoint), escaped(entry.options.utf8), bytes("-"), escaped(entry.fileSystemType.utf8),
      escaped(entry.source), escaped(entry.superOptions.utf8),
    ]
    return Array(fields.filter { !$0.isEmpty }.joined(separator: [0x20]))
  }

  /// Symbolic links of any kind, through as many as there are: ELOOP, or an absolute path without dots.
  @Test(arguments: TestSeed.seeds) func linksEnd(seed: UInt64) throws {
    let targets = ["/", "..", "../..", "x/../y", "/a/b", ".", "", "//x//", "a/./b", "/mnt/a b"].map { bytes($0) }
    let table = MountTable(parsing: Self.table)
    try Fuzz.run("links", seed: seed, cases: 100) { random, note in
      let seed = random.next()
      let resolver = PathResolver(
        mounts: table, workingDirectory: { () throws(ControlError) in bytes("/w") },
        readLink: { path in
          var random = TestRandom(seed: seed &+ UInt64(PathHash.of(path)))
          return random.oneIn(2) ? random.element(of: targets) : nil
        })
      let path = ByteMutation.mutated(bytes("a/../b//c/./d"), &random, others: targets)
      do throws(ControlError) {
        let resolved = try resolver.resolve(path)
        #expect(resolved.first == UInt8(ascii: "/") && PathBytes.absolute(resolved, from: []) == resolved, "\(note)")
      } catch {
        #expect(error.errno == .tooManySymbolicLinkLevels && isSafe(error.message), "\(note)")
      }
    }
  }
}
