import FoundationEssentials
import Glibc

/// A test program in C, compiled once for each version of its sources: the tests run in many processes.
actor ClientProgram {
  /// The program of TN3150, linked with the library as a user's would be.
  static let tn3150 = ClientProgram(
    name: "dataless-tn3150", sources: ["Tests/MountTests/Clients/tn3150.c", "Sources/CDataless/cdataless.c"],
    options: ["-std=gnu11", "-Werror", "-ISources/CDataless/include"])

  /// What the library says of backups and room.
  static let storage = ClientProgram(
    name: "dataless-storage", sources: ["Tests/MountTests/Clients/storage.c", "Sources/CDataless/storage.c"],
    options: ["-std=gnu11", "-Werror", "-ISources/CDataless/include"])

  /// What the library materializes in the background.
  static let materialize = ClientProgram(
    name: "dataless-materialize",
    sources: [
      "Tests/MountTests/Clients/materialize.c", "Sources/CDataless/materialize.c",
      "Sources/CDataless/materialize_result.c", "Sources/CDataless/cdataless.c",
    ],
    options: ["-std=gnu11", "-Werror", "-ISources/CDataless/include"])

  /// What coordinates by the library.
  static let coordinate = ClientProgram(
    name: "dataless-coordinated",
    sources: [
      "Tests/MountTests/Clients/coordinate.c", "Sources/CDataless/coordinate.c",
      "Sources/CDataless/coordinate_answer.c", "Sources/CDataless/coordinate_volume.c", "Sources/CDataless/present.c",
    ],
    options: ["-std=gnu11", "-Werror", "-ISources/CDataless/include"])

  private let name: String
  private let sources: [String]
  private let options: [String]
  private var built: Task<String, any Error>?

  /// - Parameter sources: relative to the repository, as are paths in `options`.
  init(name: String, sources: [String], options: [String] = []) {
    self.name = name
    self.sources = sources
    self.options = options
  }

  /// The path of the executable.
  func path() async throws -> String {
    if let built { return try await built.value }
    let task = Task { [name, sources, options] in try await Self.build(name, sources, options) }
    built = task
    return try await task.value
  }

  private static func build(_ name: String, _ sources: [String], _ options: [String]) async throws -> String {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
    let built = Machine.dataless.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    // Its own name, by which tests find it in the log; the version is the folder's.
    let folder = "\(built)/clients/\(try version(of: sources, options, root: root))"
    let target = "\(folder)/\(name)"
    if access(target, X_OK) == 0 { return target }
    mkdir("\(built)/clients", 0o755)
    mkdir(folder, 0o755)
    // Renamed into place: another process of the tests may be building it, too.
    let fresh = "\(target).\(getpid())"
    let compiled = try await run(
      ["env", "--chdir=\(root)", "cc", "-O1", "-Wall", "-Wextra"] + options + ["-o", fresh] + sources + ["-lpthread"],
      timeLimit: .seconds(120))
    guard compiled.succeeded else { throw HarnessError("cannot compile \(name):\n\(compiled.errorText)") }
    guard rename(fresh, target) == 0 else { throw HarnessError("cannot rename \(fresh): errno \(errno)") }
    return target
  }

  /// FNV-1a of all that is compiled: the sources, the headers beside them and in folders that options name, and the
  /// options.
  private static func version(of sources: [String], _ options: [String], root: String) throws -> String {
    let files = sources.filter { !$0.hasPrefix("-") }
    let folders = files.map { $0.split(separator: "/").dropLast().joined(separator: "/") }
    let included = options.filter { $0.hasPrefix("-I") && !$0.hasPrefix("-I/") }.map { String($0.dropFirst(2)) }
    let headers = try Set(folders + included).sorted().flatMap { folder in
      try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)").filter { $0.hasSuffix(".h") }.sorted()
        .map { "\(folder)/\($0)" }
    }
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func add(_ bytes: some Sequence<UInt8>) { for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 } }
    for option in sources + options { add(option.utf8) }
    for file in files + headers {
      guard let content = FileManager.default.contents(atPath: "\(root)/\(file)") else {
        throw HarnessError("cannot read \(file)")
      }
      add(content)
    }
    return String(hash, radix: 16)
  }
}
