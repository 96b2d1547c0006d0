import Testing

/// The arrows between the parts: what a target may import is written here, and nowhere else is it decided.
@Suite struct ImportTests {
  static let standard: Set<String> = ["Synchronization", "SystemPackage"]
  static let collections: Set<String> = ["DequeModule", "HeapModule"]
  static let nio: Set<String> = ["NIOCore", "NIOPosix"]

  static let allowed: [String: Set<String>] = [
    "CFuse3": [],
    "CDatalessLinux": [],
    "CDataless": [],
    "CDw": [],
    "CSQLite": [],
    "CYaml": [],
    "FuseKit": standard.union(["CFuse3", "Glibc"]),
    // Glibc for one pthread mutex, see AdaptiveMutex.swift.
    "DatalessCore": standard.union(collections).union(["Glibc"]),
    "DatalessScenario": standard.union(["CYaml", "DatalessCore", "Glibc"]),
    "DatalessStores": standard.union(["CDatalessLinux", "DatalessCore", "Glibc"]),
    "DatalessState": standard.union([
      "CDatalessLinux", "CSQLite", "DatalessCore", "DatalessStores", "Glibc",
    ]),
    "DatalessStacks": ["CDatalessLinux", "CDw", "Glibc"],
    "DatalessControl": standard.union(nio).union([
      "AsyncHTTPClient", "CDatalessLinux", "DatalessCore", "FoundationEssentials", "Glibc", "NIOHTTP1",
    ]),
    // CDatalessLinux for openat2(2), which finds sources without going into what is mounted.
    "DatalessReports": standard.union(["CDatalessLinux", "DatalessControl", "DatalessCore", "Glibc"]),
    "DatalessDaemon": standard.union(collections).union(nio).union([
      "CDataless", "CDatalessLinux", "DatalessControl", "DatalessCore", "DatalessScenario", "DatalessStacks",
      "DatalessState", "DatalessStores", "FoundationEssentials", "FuseKit", "Glibc", "HTTPTypes", "HummingbirdCore",
      "Logging",
    ]),
    "DatalessCommands": standard.union([
      "ArgumentParser", "CDataless", "DatalessControl", "DatalessCore", "DatalessDaemon", "DatalessReports",
      "DatalessScenario", "DatalessState", "FoundationEssentials", "Glibc",
    ]),
    // Dispatch, because a program under test may have no event loop.
    "DatalessAccess": ["CDataless", "Dispatch", "Glibc", "Synchronization"],
    "DatalessTesting": ["FoundationEssentials", "Glibc", "Synchronization", "Testing", "XCTest"],
    // The executable is also the daemon: it asks InternalEntryPoint first which of the two it is.
    "dataless": ["DatalessCommands", "DatalessDaemon"],
  ]

  /// What comes with the compiler, and is no dependency.
  static let toolchain: Set<String> = [
    "Dispatch", "Synchronization", "FoundationEssentials", "Glibc", "Testing", "XCTest",
  ]
  /// The modules of products that are not named like their one module.
  static let modules: [String: Set<String>] = ["Collections": collections]

  /// Where the small Foundation may be used: nowhere near the request path.
  static let foundationEssentialsFolders = [
    "Sources/DatalessControl/", "Sources/DatalessDaemon/ControlServer/", "Sources/DatalessDaemon/Lifecycle/",
    "Sources/DatalessCommands/", "Sources/DatalessTesting/",
  ]

  /// The commands that start a daemon, and those that clean up after a dead one; every other command speaks the control
  /// API only.
  static let daemonImporters = [
    "/DatalessCommand.swift", "/UnmountCommand.swift", "/MountCommand.swift", "/RunCommand.swift",
    "/RunReport.swift", "/RunStatus.swift", "/RunChildrenText.swift", "/VolumeOptions.swift", "/DoctorCommand.swift",
    "/RestoreCommand.swift",
  ]

  struct Import: Hashable {
    let module: String
    let file: String
    let line: Int
  }

  static let imports: [Import] = {
    let repository = Repository.current
    var found: [Import] = []
    for file in repository.files(under: "Sources", extensions: ["swift"]) {
      for (index, line) in repository.lines(of: file).enumerated() {
        if let module = importedModule(line) { found.append(Import(module: module, file: file, line: index + 1)) }
      }
    }
    return found
  }()

  /// The module named by an import declaration, submodules and single declarations included.
  static func importedModule(_ line: Substring) -> String? {
    var words = line.split(separator: " ").map(String.init)
    let before: Set<String> = ["public", "package", "internal", "private", "fileprivate"]
    while let first = words.first, before.contains(first) || first.hasPrefix("@") { words.removeFirst() }
    guard words.count >= 2, words[0] == "import" else { return nil }
    let kinds: Set<String> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
    let name = kinds.contains(words[1]) && words.count >= 3 ? words[2] : words[1]
    return name.split(separator: ".").first.map(String.init)
  }

  /// Folders beside the targets: test libraries that Swift does not build.
  static let otherLanguages: Set<String> = ["Python", "Shell"]

  @Test func everyTargetHasItsTableOfImports() {
    let folders = Set(Repository.current.folders(in: "Sources")).subtracting(Self.otherLanguages)
    #expect(folders == Set(Self.allowed.keys), "Sources/ and the table of this test name different targets")
  }

  @Test func targetsImportOnlyWhatTheirArrowsAllow() {
    #expect(!Self.imports.isEmpty)
    for found in Self.imports {
      let target = String(found.file.split(separator: "/")[1])
      #expect(
        Self.allowed[target]?.contains(found.module) == true,
        "\(found.file):\(found.line): \(target) may not import \(found.module)")
    }
  }

  /// A module that a target may import is a dependency of it in Package.swift: a module that only happens to be built
  /// already can be imported, too, until a clean build tries to.
  @Test func whatMayBeImportedIsADependency() {
    for (target, allowed) in Self.allowed {
      let modules = (Manifest.current.dependencies[target] ?? []).flatMap { Self.modules[$0] ?? [$0] }
      for module in allowed.subtracting(Self.toolchain).sorted() {
        #expect(modules.contains(module), "Package.swift: \(module) is no dependency of \(target)")
      }
    }
  }

  @Test func dependenciesAreImported() {
    for (target, dependencies) in Manifest.current.dependencies where Self.allowed[target] != nil {
      let imported = Set(Self.imports.filter { $0.file.hasPrefix("Sources/\(target)/") }.map(\.module))
      for product in dependencies.sorted() {
        let modules = Self.modules[product] ?? [product]
        #expect(!modules.isDisjoint(with: imported), "Package.swift: \(target) imports nothing of \(product)")
      }
    }
  }

  @Test func onlyFuseKitImportsTheCLibrary() {
    for found in Self.imports where found.module == "CFuse3" {
      #expect(found.file.hasPrefix("Sources/FuseKit/"), "\(found.file):\(found.line)")
    }
  }

  @Test func foundationStaysOutOfTheRequestPath() {
    for found in Self.imports where found.module.hasPrefix("Foundation") {
      let place = "\(found.file):\(found.line)"
      #expect(found.module == "FoundationEssentials", "\(place): FoundationEssentials only")
      #expect(Self.foundationEssentialsFolders.contains { found.file.hasPrefix($0) }, "\(place)")
    }
  }

  @Test func commandsReachTheDaemonThroughItsControlAPI() {
    for found in Self.imports where found.module == "DatalessDaemon" {
      guard found.file.hasPrefix("Sources/DatalessCommands/") else { continue }
      #expect(Self.daemonImporters.contains { found.file.hasSuffix($0) }, "\(found.file):\(found.line)")
    }
  }
}
