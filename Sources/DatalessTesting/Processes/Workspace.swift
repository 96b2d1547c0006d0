import FoundationEssentials
import Glibc
import Synchronization

/// Where the volumes of this process lie, and what ends them when this process does, however it does.
///
/// The folder is `<TMPDIR>/dataless-tests-<uid>/<pid>-<random>`. The keeper, a shell script, waits for the end of a
/// FIFO of which this process, and the commands that it has begun, have the writing end: the kernel closes it when they
/// end, also by SIGKILL; a mount that is being made then is complete, or has failed, before the keeper looks at it.
/// Then the keeper unmounts what is left and removes the folder. Were it killed, too, the next process that makes a
/// volume cleans up: the folder's lock is free then. The commands have the lock, too, since a mount makes what it
/// misses in the folder.
final class Workspace: Sendable {
  let executable: Executable
  let folder: String
  private let lock: Int32
  private let fifo: Int32
  private let count = Mutex(0)

  private init(executable: Executable, folder: String, lock: Int32, fifo: Int32) {
    (self.executable, self.folder, self.lock, self.fifo) = (executable, folder, lock, fifo)
  }

  /// Makes one, after it has removed what others have left.
  static func make(_ executable: Executable) async throws -> Workspace {
    let parent = try await Threads.run { try parentFolder(executable.environment) }
    let leftovers = try await Threads.run { (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] }
    for name in leftovers {
      // One that is empty is of a process that was killed before it made the lock, or is about to: that takes another
      // folder then.
      let left = "\(parent)/\(name)"
      guard let lock = try await Threads.run({ rmdir(left) == 0 ? nil : takeLock(of: left) }) else { continue }
      defer { close(lock) }
      let child = try await Child.start(
        keeper(of: "\(parent)/\(name)", executable: executable, lock: lock, input: "/dev/null"))
      _ = await child.status(within: .seconds(40))
      await child.kill()
    }
    let (folder, lock, fifo) = try await Threads.run { try newFolder(in: parent) }
    let workspace = Workspace(executable: executable, folder: folder, lock: lock, fifo: fifo)
    _ = try await Child.start(keeper(of: folder, executable: executable, lock: lock, input: folder + "/alive"))
    return workspace
  }

  /// The keeper has the lock, too: it stays taken until both have ended.
  private static func keeper(of folder: String, executable: Executable, lock: Int32, input: String) -> Child.Plan {
    let script = String(decoding: PackageResources.keeper_sh, as: UTF8.self)
    return Child.Plan(
      words: ["/bin/sh", "-c", script, "dataless-keeper", folder, executable.path],
      environment: executable.environment, descriptors: [9: lock], input: input)
  }

  /// The folder of all test processes of this user; nobody else may have prepared it.
  static func parentFolder(_ environment: [String: String]) throws -> String {
    let temporary = environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    guard let resolved = realpath(temporary, nil) else { throw failure("realpath", temporary) }
    defer { free(resolved) }
    let path = "\(String(cString: resolved))/dataless-tests-\(geteuid())"
    if mkdir(path, 0o700) != 0 && errno != EEXIST { throw failure("mkdir", path) }
    var found = stat()
    if lstat(path, &found) != 0 { throw failure("lstat", path) }
    guard found.st_mode & S_IFMT == S_IFDIR, found.st_uid == geteuid(), found.st_mode & 0o077 == 0 else {
      throw DatalessError(
        "\(path) is not a folder of this user alone. Remove it, or set TMPDIR.", code: "forbidden", errno: "EPERM")
    }
    return path
  }

  /// A descriptor with the folder's lock; nil when somebody has it, or the folder is gone.
  ///
  /// Only who has made the folder makes the lock, once. If others did, one could come to be in a folder that is just
  /// being removed, and be taken for a sign that nobody else has it.
  private static func takeLock(of folder: String, isNew: Bool = false) -> Int32? {
    let lock = open(folder + "/lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW | (isNew ? O_CREAT | O_EXCL : 0), 0o600)
    guard lock >= 0 else { return nil }
    var found = stat()
    if flock(lock, LOCK_EX | LOCK_NB) == 0, fstat(lock, &found) == 0, found.st_nlink > 0 { return lock }
    close(lock)
    return nil
  }

  /// A folder, its lock and its FIFO. Whoever cleans up may take one away that is not locked yet: then another one.
  private static func newFolder(in parent: String) throws -> (folder: String, lock: Int32, fifo: Int32) {
    for _ in 0..<100 {
      var template = Array("\(parent)/\(getpid())-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw failure("mkdtemp", parent) }
      let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      guard let lock = takeLock(of: folder, isNew: true) else { continue }
      let path = folder + "/alive"
      guard mkfifo(path, 0o600) == 0 else { throw failure("mkfifo", path) }
      // Both ends: so the opening waits for nobody, neither here nor in the keeper.
      let fifo = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
      guard fifo >= 0 else { throw failure("open", path) }
      return (folder, lock, fifo)
    }
    throw DatalessError("no folder in \(parent) can be locked.")
  }

  /// A folder for one more volume, with its mountpoint `mnt`.
  func newVolumeFolder() throws -> String {
    let number = count.withLock { count in
      count += 1
      return count
    }
    let path = "\(folder)/v\(number)"
    for name in ["", "/mnt", "/programs"] { try makeDirectory(path + name) }
    return path
  }

  /// Removes a volume's folder, if nothing is mounted in it any more. No path below a mountpoint is looked at.
  static func remove(_ folder: String) -> Bool {
    if rmdir(folder + "/mnt") != 0 && errno != ENOENT { return false }
    try? FileManager.default.removeItem(atPath: folder)
    return true
  }

  /// Runs `dataless` with these arguments and `--json`.
  func command(_ arguments: [String], limit: Duration = .seconds(60)) async throws -> CommandOutput {
    let (status, output, words) = try await run(arguments + ["--json"], limit: limit)
    return CommandOutput(status: status, output: output, words: words)
  }

  /// What `dataless` prints with these arguments, whatever its exit status.
  func text(_ arguments: [String]) async throws -> String { try await run(arguments, limit: .seconds(60)).output }

  private func run(_ arguments: [String], limit: Duration) async throws -> (
    status: Int32, output: String, words: String
  ) {
    let (output, error) = try await Threads.run { [folder] in (try OutputFile(in: folder), try OutputFile(in: folder)) }
    // What is printed here is read by us, and by no GitHub Actions.
    let environment = executable.environment.filter { $0.key != "GITHUB_ACTIONS" }
    let child = try await Child.start(
      Child.Plan(
        words: [executable.path] + arguments, environment: environment,
        descriptors: [1: output.descriptor, 2: error.descriptor, 8: fifo, 9: lock]))
    let status = await child.status(within: limit)
    // A daemon that it has started is not of its group, and stays in any case.
    if status == nil { await child.kill() } else { child.reap() }
    guard let status else {
      try Task.checkCancellation()
      throw DatalessError(
        "dataless \(arguments.joined(separator: " ")): not done within \(limit.words).", code: "timed_out",
        errno: "ETIMEDOUT")
    }
    return try await Threads.run {
      (status, output.text(), String(error.text().reversed().drop { $0.isWhitespace }.reversed()))
    }
  }
}

/// The workspaces of this process, one for each executable.
actor Workspaces {
  static let shared = Workspaces()
  private var made: [Executable: Task<Workspace, any Error>] = [:]

  func get(_ executable: Executable) async throws -> Workspace {
    let task = made[executable] ?? Task { try await Workspace.make(executable) }
    made[executable] = task
    do { return try await task.value } catch {
      made[executable] = nil
      throw error
    }
  }
}
