import Glibc

/// A test program in C, compiled once for each run of the tests.
actor ClientProgram {
  /// The program of TN3150, linked with the library as a user's would be.
  static let tn3150 = ClientProgram(
    name: "dataless-tn3150", sources: ["Tests/MountTests/Clients/tn3150.c", "Sources/CDataless/cdataless.c"],
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
    let folder = Machine.dataless.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    // Renamed into place: another run of the tests may be using the old one.
    let target = "\(folder)/\(name)"
    let fresh = "\(target).\(getpid())"
    let compiled = try await run(
      ["env", "--chdir=\(root)", "cc", "-O1", "-Wall", "-Wextra"] + options + ["-o", fresh] + sources + ["-lpthread"],
      timeLimit: .seconds(120))
    guard compiled.succeeded else { throw HarnessError("cannot compile \(name):\n\(compiled.errorText)") }
    guard rename(fresh, target) == 0 else { throw HarnessError("cannot rename \(fresh): errno \(errno)") }
    return target
  }
}
