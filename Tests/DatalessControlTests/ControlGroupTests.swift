import DatalessControl
import TestSupport
import Testing

/// Units and containers in paths of cgroups, as systemd and the engines write them.
@Suite struct ControlGroupTests {
  private static let number = String(repeating: "0123456789abcdef", count: 4)

  private static func text(_ path: String) -> String {
    let group = ControlGroup(path: Array(path.utf8))
    func word(_ bytes: [UInt8]?) -> String { bytes.map { String(decoding: $0, as: UTF8.self) } ?? "-" }
    return "\(word(group.unit)) \(word(group.container))"
  }

  @Test(
    arguments: [
      ("/", "- -"), ("", "- -"), ("/system.slice", "- -"), ("/init.scope", "init.scope -"),
      ("/system.slice/backup.service", "backup.service -"),
      ("/user.slice/user-1000.slice/session-3.scope", "session-3.scope -"),
      ("/user.slice/user-1000.slice/user@1000.service/app.slice/fm.service", "fm.service -"),
      ("/system.slice/job.service/payload", "job.service -"), ("/.service", "- -"),
      ("/system.slice/docker-\(number).scope", "- docker:0123456789ab"), ("/docker/\(number)", "- docker:0123456789ab"),
      ("/docker/\(number)/system.slice/web.service", "web.service docker:0123456789ab"),
      ("/machine.slice/libpod-\(number).scope/container", "- podman:0123456789ab"),
      ("/kubepods.slice/kubepods-pod1.slice/cri-containerd-\(number).scope", "- containerd:0123456789ab"),
      ("/kubepods/besteffort/pod1/\(number)", "- 0123456789ab"), ("/actions_job/\(number)", "- 0123456789ab"),
      ("/lxc/web", "- lxc:web"), ("/lxc.payload.web/init.scope", "init.scope lxc:web"),
      ("/machine.slice/machine-deb.scope", "- machine:deb"),
      ("/docker-\(number.dropLast())x.scope", "docker-\(number.dropLast())x.scope -"),
    ] as [(String, String)])
  func whatAPathSays(path: String, expected: String) { #expect(Self.text(path) == expected) }

  /// Whoever may make cgroups gives them their names.
  @Test func anyPathIsBounded() {
    var random = TestRandom(seed: TestSeed.one)
    let pieces = ["/", "docker", "docker-", Self.number, ".scope", ".service", "lxc", "\n", "\u{1b}", "machine-", "a"]
    for _ in 0..<2_000 {
      var path: [UInt8] = []
      while path.count < 200, !random.oneIn(20) {
        path += random.oneIn(9) ? [UInt8(truncatingIfNeeded: random.next())] : Array(random.element(of: pieces).utf8)
      }
      let group = ControlGroup(path: path)
      #expect((group.unit?.count ?? 0) <= 255 && (group.container?.count ?? 0) <= 255 + 8)
    }
    #expect(ControlGroup(path: Array(repeating: UInt8(ascii: "a"), count: 300) + Array(".service".utf8)).unit == nil)
  }
}
