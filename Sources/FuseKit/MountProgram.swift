internal import CFuse3
internal import Glibc
internal import SystemPackage

/// fusermount3, the set-user-id program through which ordinary users mount and unmount.
///
/// Called by posix_spawn rather than by libfuse, which forks this multi-threaded process, allocates memory in the child
/// and lets the program write to our stderr: here its words become the reason of the error.
enum MountProgram {
  /// What one run of the program came to.
  private struct Run {
    var device: Int32?
    /// The first line it wrote to stderr, without its own name.
    var words: String
    var succeeded: Bool
  }

  /// Mounts and returns the device, close-on-exec.
  static func mount(_ request: MountRequest) throws(FuseMountError) -> Int32 {
    let run = try run(
      [Array("-o".utf8), request.mountProgramOptions, Array("--".utf8), request.mountpoint], receivesDevice: true)
    if let device = run.device { return device }
    throw classify(run.words, options: request.options)
  }

  /// Unmounts lazily: the name is gone at once, the connection lives on.
  static func unmountLazily(_ mountpoint: [UInt8]) throws(FuseMountError) {
    let arguments = [Array("-u".utf8), Array("-z".utf8), Array("--".utf8), mountpoint]
    let run = try run(arguments, receivesDevice: false)
    guard run.succeeded else {
      throw FuseMountError(.refused, "fusermount3 did not unmount the volume", detail: run.words)
    }
  }

  /// Turns the program's words into a reason. They are its only way to say one: its exit status is always 1.
  static func classify(_ words: String, options: FuseSessionOptions) -> FuseMountError {
    if words.contains("user_allow_other") {
      return FuseMountError(
        .allowOtherForbidden, errno: .notPermitted, "other users may not be let in by an ordinary user here",
        remedy: "Mount without allowing other users, or have root add a line 'user_allow_other' to /etc/fuse.conf.")
    }
    if words.contains("too many FUSE") {
      return FuseMountError(
        .tooManyMounts, errno: .noMemory, "this user has as many FUSE mounts as /etc/fuse.conf allows",
        remedy: "Unmount one, or have root raise mount_max in /etc/fuse.conf.")
    }
    if words.contains("device not found") {
      return .noDevice
    }
    if words.contains("/dev/fuse") {
      return .deviceNotPermitted(detail: words)
    }
    if words.contains("mountpoint") || words.contains("mount point") || words.contains("bad mount") {
      return FuseMountError(
        .mountpoint, errno: .permissionDenied, "the mountpoint cannot be used",
        remedy: "It must be a directory that this user may write to.",
        detail: words)
    }
    return FuseMountError(
      .refused, "fusermount3 did not mount the volume",
      remedy: words.contains("Operation not permitted") ? "Is fusermount3 set-user-id root, and mounting allowed?" : "",
      detail: words)
  }

  private static func run(_ arguments: [[UInt8]], receivesDevice: Bool) throws(FuseMountError) -> Run {
    var sockets: [Int32] = [-1, -1]
    var errors: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    // Both are socket pairs, because a pipe cannot be made close-on-exec in one call here.
    guard socketpair(AF_UNIX, type, 0, &sockets) == 0, socketpair(AF_UNIX, type, 0, &errors) == 0 else {
      let code = Errno(rawValue: errno)
      for descriptor in sockets + errors where descriptor >= 0 { close(descriptor) }
      throw FuseMountError(.refused, errno: code, "no descriptors for a run of fusermount3")
    }
    defer {
      close(sockets[0])
      close(errors[0])
    }
    let result = spawn(arguments, socket: sockets[1], errors: errors[1])
    close(sockets[1])
    close(errors[1])
    let child: pid_t
    switch result {
    case .success(let pid): child = pid
    case .failure(.noSuchFileOrDirectory):
      throw FuseMountError(
        .noMountProgram, errno: .noSuchFileOrDirectory, "the program fusermount3 is not installed",
        remedy: "Install it (on Debian: apt-get install fuse3), or mount as root.")
    case .failure(let code):
      throw FuseMountError(.noMountProgram, errno: code, "the program fusermount3 cannot be started")
    }
    let device = receivesDevice ? cfuse_receive_descriptor(sockets[0]) : -1
    let words = readLine(errors[0])
    var status: Int32 = 0
    var reaped = waitpid(child, &status, 0)
    while reaped < 0, errno == EINTR { reaped = waitpid(child, &status, 0) }
    // Where the process ignores SIGCHLD nobody knows how it ended; a descriptor that it sent is proof enough.
    let succeeded = reaped == child ? status == 0 : device >= 0
    return Run(device: device >= 0 ? device : nil, words: words, succeeded: succeeded)
  }

  /// Starts the program with the socket as its descriptor 3, stderr in the pipe, no further descriptors, and no signal
  /// blocked or ignored.
  private static func spawn(_ arguments: [[UInt8]], socket: Int32, errors: Int32) -> Result<pid_t, Errno> {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    // The pipe first: it may be descriptor 3 itself.
    posix_spawn_file_actions_adddup2(&actions, errors, 2)
    posix_spawn_file_actions_adddup2(&actions, socket, 3)
    // Whoever uses this package may have descriptors that are not close-on-exec, such as those of NIO.
    _ = cfuse_spawn_without_descriptors(&actions, 4)
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var words = ([Array("fusermount3".utf8)] + arguments).map(cString)
    // A fixed environment: the program needs the socket's number and nothing of ours.
    var environment = ["_FUSE_COMMFD=3", "PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C"].map {
      cString(Array($0.utf8))
    }
    defer { for word in words + environment { free(word) } }
    words.append(nil)
    environment.append(nil)
    var code = ENOENT
    for path in candidates {
      var child: pid_t = 0
      code = posix_spawn(&child, path, &actions, &attributes, words, environment)
      if code == 0 { return .success(child) }
      if code != ENOENT { break }
    }
    return .failure(Errno(rawValue: code))
  }

  /// Where distributions put the program; NixOS keeps set-user-id programs in a directory of wrappers.
  private static let candidates = [
    "/usr/bin/fusermount3", "/bin/fusermount3", "/usr/local/bin/fusermount3", "/run/wrappers/bin/fusermount3",
  ]

  private static func cString(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar>? {
    (bytes + [0]).withUnsafeBytes { $0.baseAddress.flatMap { strdup($0.assumingMemoryBound(to: CChar.self)) } }
  }

  /// Reads to the end of the pipe; returns the first line without the program's name in front.
  private static func readLine(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1024)
    while bytes.count < 65_536 {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { break }
      bytes += chunk[..<count]
    }
    let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    let name = "fusermount3: "
    return line.hasPrefix(name) ? String(line.dropFirst(name.count)) : line
  }
}

extension FuseMountError {
  static let noDevice = FuseMountError(
    .noDevice, errno: .noSuchFileOrDirectory, "there is no /dev/fuse",
    remedy: "Load the kernel module (modprobe fuse), or give the container the device (--device /dev/fuse).")

  static func deviceNotPermitted(errno: Errno? = nil, detail: String) -> FuseMountError {
    FuseMountError(
      .deviceNotPermitted, errno: errno ?? .permissionDenied, "/dev/fuse may not be opened",
      remedy: "Its mode should be 0666 (as root: chmod 666 /dev/fuse); a container needs --device /dev/fuse.",
      detail: detail)
  }
}
