import FoundationEssentials
import Glibc
import Testing

/// A directory of one test, with a source tree, a mountpoint, and places for the log and the cache in it.
struct Scratch: Sendable {
  let root: String
  var source: String { root + "/source" }
  var mountpoint: String { root + "/volume" }
  var cache: String { root + "/cache" }
  var log: LogFile { LogFile(path: root + "/log.jsonl") }

  init() throws {
    // On a disk rather than a tmpfs where there is the choice, as users' trees are.
    let parent = ProcessEnvironment.current["TMPDIR"] ?? "/var/tmp"
    var template = Array("\(parent)/dataless-test.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw HarnessError("mkdtemp in \(parent): errno \(errno)") }
    root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    try Lifeline.own.get().tell(root)
    chmod(root, 0o755)
    for directory in [source, mountpoint] { mkdir(directory, 0o755) }
  }

  /// Runs a shell script in the source tree.
  @discardableResult
  func shell(_ script: String, timeLimit: Duration = .seconds(60)) async throws -> String {
    let finished = try await run(
      ["bash", "-euo", "pipefail", "-c", "cd \"$SOURCE\"\n" + script],
      environment: [
        "SOURCE": source, "ROOT": root, "MOUNT": mountpoint, "DATALESS": Machine.dataless, "LOG": log.path,
        "CACHE": cache,
      ], timeLimit: timeLimit)
    guard finished.succeeded else {
      throw HarnessError("shell: status \(finished.shellStatus): \(finished.errorText)\(finished.text)")
    }
    return finished.text
  }

  /// Writes a file of the source tree, whose content depends on its name and size only.
  func file(_ path: String, size: Int) throws {
    var state = path.utf8.reduce(UInt64(size) &+ 0x9e37_79b9_7f4a_7c15) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    var bytes = [UInt8]()
    bytes.reserveCapacity(size + 8)
    while bytes.count < size {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      withUnsafeBytes(of: state) { bytes.append(contentsOf: $0) }
    }
    try file(path, content: bytes.prefix(size))
  }

  func file(_ path: String, content: some Sequence<UInt8>) throws {
    let bytes = Array(content)
    let fd = open("\(source)/\(path)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard fd >= 0 else { throw HarnessError("cannot create \(path): errno \(errno)") }
    defer { close(fd) }
    var offset = 0
    while offset < bytes.count {
      let written = bytes[offset...].withUnsafeBytes { write(fd, $0.baseAddress, $0.count) }
      guard written > 0 else { throw HarnessError("cannot write \(path): errno \(errno)") }
      offset += written
    }
  }

  func directory(_ path: String) { mkdir("\(source)/\(path)", 0o755) }

  /// Runs the probe, which must end by itself, and parses its answer.
  @discardableResult
  func probe(_ arguments: String..., timeLimit: Duration = .seconds(30)) async throws -> [Answer] {
    let finished = try await run([try await Probe.shared.path()] + arguments, timeLimit: timeLimit)
    guard finished.succeeded else {
      throw HarnessError(
        "probe \(arguments): status \(finished.shellStatus) timed out \(finished.timedOut): "
          + finished.errorText)
    }
    return finished.lines.map { Answer($0) }
  }

  func startProbe(_ arguments: String..., timeLimit: Duration = .seconds(60)) async throws -> Child {
    try Child([try await Probe.shared.path()] + arguments, timeLimit: timeLimit)
  }

  /// Takes down whatever is mounted here, however badly it hangs, and removes everything.
  ///
  /// The gentle way first; each further step is a failure of the test, because it says that `unmount` failed.
  func cleanUp() async {
    for mount in Machine.mounts().reversed() where mount.point.hasPrefix(root + "/") {
      await takeDown(mount.point, device: mount.device)
    }
    guard !Machine.mounts().contains(where: { $0.point.hasPrefix(root + "/") }) else {
      Issue.record("\(root) still holds a mount; it is left there")
      return
    }
    _ = try? await run(["chmod", "-R", "u+rwX", root], timeLimit: .seconds(60))
    let removed = try? await run(["rm", "-rf", "--one-file-system", root], timeLimit: .seconds(120))
    if removed?.succeeded != true { Issue.record("cannot remove \(root): \(removed?.errorText ?? "")") }
  }

  private func takeDown(_ point: String, device: String) async {
    guard point == mountpoint || point.hasPrefix(root + "/volume") else {
      _ = try? await run(["umount", "-l", point], timeLimit: .seconds(10))
      return
    }
    let unmounted = try? await run([Machine.dataless, "unmount", point], timeLimit: .seconds(10))
    if !Machine.isMounted(point) { return }
    Issue.record("unmount left \(point) mounted: \(unmounted?.errorText ?? "not started")")
    if Machine.isRoot, let minor = device.split(separator: ":").last {
      // The connection's number is the device's minor number.
      let control = "/sys/fs/fuse/connections"
      if access("\(control)/\(minor)/abort", F_OK) != 0 {
        _ = try? await run(["mount", "-t", "fusectl", "none", control], timeLimit: .seconds(10))
      }
      _ = try? await run(["sh", "-c", "echo 1 > \(control)/\(minor)/abort"], timeLimit: .seconds(10))
      _ = try? await run(["umount", "-l", point], timeLimit: .seconds(10))
    } else {
      _ = try? await run(["fusermount3", "-u", "-z", point], timeLimit: .seconds(10))
    }
  }
}
