internal import CDatalessLinux
internal import Glibc

/// The process that parses callers' files: unwinds, finds names and lines, for one user's callers.
///
/// It knows no path and opens nothing: files are descriptors that it is sent. A file that makes it crash or loop costs
/// the stacks it was asked for, and this process.
public final class SymbolServer {
  private let socket: StackSocket
  private let library: DwarfLibrary?
  private let demangler: Demangler
  private let cache = FileCache()

  private init(_ socket: StackSocket) {
    self.socket = socket
    library = try? DwarfLibrary()
    demangler = .ofThisMachine()
  }

  /// Serves until the other side goes.
  ///
  /// - Parameter shutOff: Called when all libraries are loaded, before the first foreign byte is read.
  public static func run(_ socket: StackSocket, shutOff: () -> Bool) {
    let server = SymbolServer(socket)
    guard shutOff() else { return }
    while (try? server.serve()) != nil {}
  }

  /// No user but the caller's, no calls but reading, limits of memory and time. False when one of it is refused.
  public static func shutOff(_ identity: CallerIdentity) -> Bool {
    let limits = [
      (RLIMIT_AS, 4 << 30), (RLIMIT_CPU, 600), (RLIMIT_NOFILE, 512), (RLIMIT_FSIZE, 0), (RLIMIT_CORE, 0),
    ]
    for (resource, value) in limits {
      var limit = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
      guard setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { return false }
    }
    return clinux_become_user(identity.user, identity.group) == 0 && clinux_allow_reading_only() == 0
  }

  private func serve() throws(StackSocket.Gone) {
    let (message, descriptors) = try socket.receive()
    switch message.kind {
    case .identify:
      let image = descriptors.first.flatMap { ElfFile(FileBytes(descriptor: $0)) }.flatMap { InterpreterImage($0) }
      for descriptor in descriptors { close(descriptor) }
      let content = InterpreterIdentity(image: image).bytes
      try socket.send(StackMessage(.identity, number: message.number, content: content))
    case .symbolize:
      guard let order = SymbolOrder(message.content), order.files.count == descriptors.count else {
        for descriptor in descriptors { close(descriptor) }
        throw StackSocket.Gone()
      }
      var writer = ByteWriter()
      name(order, descriptors, number: message.number).encode(into: &writer)
      try socket.send(StackMessage(.named, number: message.number, content: writer.bytes))
    default:
      for descriptor in descriptors { close(descriptor) }
      throw StackSocket.Gone()
    }
  }

  private func name(_ order: SymbolOrder, _ descriptors: [Int32], number: UInt64) -> NamedStack {
    var unused: [MappedFiles.Identity: Int32] = [:]
    for (file, descriptor) in zip(order.files, descriptors) {
      let identity = MappedFiles.Identity(device: file.device, inode: file.inode)
      if let double = unused.updateValue(descriptor, forKey: identity) { close(double) }
    }
    let perfIdentity = MappedFiles.Identity(device: CallerFiles.perfMap.device, inode: CallerFiles.perfMap.inode)
    let perfMap = unused.removeValue(forKey: perfIdentity)
    let files = MappedFiles(
      order.capture.mappings, library: library, cache: cache,
      open: { unused.removeValue(forKey: MappedFiles.Identity(device: $0.device, inode: $0.inode)) },
      findDebug: { [self] mapping, buildID, link in
        let file = SymbolOrder.File(device: mapping.device, inode: mapping.inode)
        let link = link.map { Array($0.name.utf8) } ?? []
        return debugFile(DebugFileQuestion(file: file, buildID: buildID?.bytes ?? [], link: link), number: number)
      })
    defer {
      for descriptor in unused.values { close(descriptor) }
      if let perfMap { close(perfMap) }
    }
    let naming = FrameNaming(files: files, mappings: order.capture.mappings, demangler: demangler)
    let unwound = naming.unwind(order.capture)
    var stack = naming.named(unwound)
    if library == nil {
      stack.problem = Array("libdw.so.1 is not installed: no unwind tables, no lines".utf8)
    } else if files.isDebugUnknown {
      stack.problem = Array("the process had gone before its debug information was looked for".utf8)
    }
    let exact = Set(unwound.frames.lazy.filter(\.isExact).map(\.address))
    return perfMap.map { naming.withPerfMap(stack, exact: exact, FileBytes(descriptor: $0)) } ?? stack
  }

  private func debugFile(_ question: DebugFileQuestion, number: UInt64) -> DebugFileSearch {
    guard (try? socket.send(StackMessage(.findDebugFile, number: number, content: question.bytes))) != nil,
      let (message, descriptors) = try? socket.receive()
    else { return .unknown }
    guard message.kind == .debugFile, message.number == number, descriptors.count <= 1 else {
      for descriptor in descriptors { close(descriptor) }
      return .unknown
    }
    if let descriptor = descriptors.first { return .found(descriptor) }
    return message.content.isEmpty ? .missing : .unknown
  }
}
