/// Whose code a frame of a stack is.
public enum FrameOrigin: Sendable, Equatable {
  /// Of the program that waits.
  case program
  /// Of a package that it uses and that others wrote: below `site-packages`, `node_modules`, a cache of modules.
  case package
  /// Of the system, of the language's runtime or of its standard library.
  case runtime
}

extension FrameOrigin {
  // What begins a thread or a program stands in the program's own file, and is nobody's that is looked for.
  private static let starts: Set<String> = [
    "_start", "__libc_start_main", "__libc_start_call_main", "start_thread", "__clone3", "clone",
  ]

  /// Of a native frame: by its module, then by its source, then by its name.
  ///
  /// - Parameter inner: The frame that it calls, if any.
  init(_ frame: CallerFrame, inner: CallerFrame?) {
    if SystemModule.has(frame.moduleBytes) {
      self = .runtime
    } else if let symbol = frame.symbol {
      if Self.starts.contains(symbol) || Self.isMainOfRust(frame, inner: inner) {
        self = .runtime
      } else {
        self = frame.fileBytes.flatMap { SourceOrigin.of($0, symbol: symbol) } ?? SymbolOrigin.of(symbol)
      }
    } else if let file = frame.fileBytes {
      self = SourceOrigin.of(file, symbol: "") ?? .program
    } else {
      // Code without a name and without a file is generated: an interpreter's, or a translator's. What calls the C
      // library's beginning is a `_start` that was stripped of its name.
      let isStart = inner?.symbol.map { Self.starts.contains($0) } ?? false
      self = frame.module.isEmpty || isStart ? .runtime : .program
    }
  }

  /// Rust makes a `main` for the C library that calls the one of the program by way of its runtime.
  private static func isMainOfRust(_ frame: CallerFrame, inner: CallerFrame?) -> Bool {
    frame.symbol == "main" && frame.file == nil && inner?.symbol?.hasPrefix("std::rt::") == true
  }

  /// Of a function of an interpreted program.
  ///
  /// - Parameters:
  ///   - language: `python`, `node` or `bash`.
  ///   - inner: Whose the function is that it calls, if any.
  init(_ frame: InterpretedFrame, language: String, inner: FrameOrigin?) {
    switch language {
    case "python": self = Self.python(frame, inner: inner)
    case "node": self = Self.node(frame.fileBytes)
    default: self = .program
    }
  }

  private static func python(_ frame: InterpretedFrame, inner: FrameOrigin?) -> FrameOrigin {
    let file = frame.fileBytes
    if file.isEmpty || file.starts(with: "<frozen ".utf8) { return .runtime }
    let parts = SourceParts(file)
    if parts.has("site-packages") || parts.has("dist-packages") { return .package }
    // `lib/python3.11/json`, `lib/python311.zip/json`.
    for (before, part) in zip(parts.all, parts.all.dropFirst().dropLast())
    where before.starts(with: "lib".utf8) && part.starts(with: "python3".utf8) {
      if part.starts(with: "python3.".utf8) || part.suffix(4).elementsEqual(".zip".utf8) { return .runtime }
    }
    // The few lines that an installer writes to begin an installed program tell less than the program does.
    let isInstalled = parts.all.dropLast().last.map { $0.elementsEqual("bin".utf8) } ?? false
    let isLauncher = isInstalled && frame.function == "<module>" && !parts.hasExtension("py")
    return isLauncher && inner == .package ? .package : .program
  }

  private static func node(_ file: [UInt8]) -> FrameOrigin {
    if file.isEmpty || file.starts(with: "node:".utf8) || file.starts(with: "internal/".utf8) { return .runtime }
    return SourceParts(file).has("node_modules") ? .package : .program
  }
}

/// Which files that are mapped belong to the system.
private enum SystemModule {
  private static let directories = ["lib", "lib64", "lib32"]
  // By their names, wherever they lie: a toolchain or a container may have its own.
  private static let libraries = [
    "libc.so", "libc-2.", "libpthread", "ld-linux", "ld-musl", "ld-2.", "libstdc++.so", "libgcc_s.so", "libc++.so",
    "libc++abi.so", "libm.so", "libswift", "libFoundation", "lib_Foundation", "libdispatch.so", "libBlocksRuntime.so",
  ]

  static func has(_ module: [UInt8]) -> Bool {
    if module.first == UInt8(ascii: "[") { return true }
    let name = PathBytes.lastComponent(module)
    if libraries.contains(where: { name.starts(with: $0.utf8) }) { return true }
    // A program may be installed there, too: its own file is no library.
    guard String(decoding: name, as: UTF8.self).contains(".so") else { return false }
    let parts = SourceParts(module)
    guard parts.isAbsolute, let first = parts.all.first else { return false }
    let place = first.elementsEqual("usr".utf8) ? parts.all.dropFirst().first : first
    return place.map { part in directories.contains { part.elementsEqual($0.utf8) } } ?? false
  }
}

/// A path of a source as its parts between slashes.
struct SourceParts {
  let isAbsolute: Bool
  /// Without empty ones, `.`, and `..` at the beginning.
  let all: [ArraySlice<UInt8>]

  init(_ path: [UInt8]) {
    isAbsolute = path.first == PathBytes.slash
    let parts = path.split(separator: PathBytes.slash).filter { !$0.elementsEqual(".".utf8) }
    all = Array(parts.drop { $0.elementsEqual("..".utf8) })
  }

  func has(_ name: String) -> Bool { all.contains { $0.elementsEqual(name.utf8) } }

  /// Whether two parts follow each other.
  func has(_ first: String, _ second: String) -> Bool {
    zip(all, all.dropFirst()).contains { $0.elementsEqual(first.utf8) && $1.elementsEqual(second.utf8) }
  }

  func begins(_ names: String...) -> Bool {
    all.count > names.count && zip(all, names).allSatisfy { $0.elementsEqual($1.utf8) }
  }

  func hasExtension(_ name: String) -> Bool {
    all.last?.suffix(name.utf8.count + 1).elementsEqual(".\(name)".utf8) == true
  }
}
