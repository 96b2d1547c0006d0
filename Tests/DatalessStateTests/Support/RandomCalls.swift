import DatalessCore
import Glibc
import TestSupport

/// Calls at random on a few names, two levels deep, so that they meet again and again.
struct RandomCalls {
  private(set) var random: TestRandom
  /// What was done, a line each; `S` what was done in SOURCE.
  private(set) var story: [String]

  private static let names = ["a", "b", "c"]
  private var number = 0

  init(_ random: TestRandom, story: String) {
    self.random = random
    self.story = [story]
  }

  mutating func below(_ count: Int) -> Int { random.below(count) }
  mutating func tell(_ line: String) { story.append(line) }

  private mutating func path() -> String {
    let names = (0...random.below(2)).map { _ in random.element(of: Self.names) }
    return names.joined(separator: "/")
  }

  private mutating func known(_ paths: [String], in chances: (Int, of: Int)) -> String {
    if !paths.isEmpty, random.below(chances.of) < chances.0 { return random.element(of: paths) }
    return path()
  }

  /// One call that succeeds, if a few tries bring one.
  mutating func perform(on target: some RandomCallTarget) {
    for _ in 0..<20 {
      let paths = target.paths().sorted()
      let (from, to) = (known(paths, in: (4, of: 5)), known(paths, in: (1, of: 4)))
      number += 1
      guard let line = call(from, to, on: target) else { continue }
      return tell(target.mark + line)
    }
    tell(target.mark + "nothing")
  }

  private mutating func call(_ from: String, _ to: String, on target: some RandomCallTarget) -> String? {
    switch random.below(15) {
    case 0, 1: target.write("\(number)", to: from) ? "write \(number) \(from)" : nil
    case 2: target.append("app", to: from) ? "append \(from)" : nil
    case 3, 4: target.makeDirectory(from) ? "mkdir \(from)" : nil
    case 5, 6, 7: from != to && target.move(from, to) ? "rename \(from) \(to)" : nil
    case 8: target.delete(from) ? "unlink \(from)" : nil
    case 9: random.oneIn(2) && target.deleteTree(from) ? "remove \(from)" : nil
    case 10: target.makeLink(from, to) ? "link \(from) \(to)" : nil
    case 11: target.makeSymbolicLink(to) ? "symlink \(to)" : nil
    case 12: target.setMode(random.oneIn(2) ? 0o700 : 0o750, of: from) ? "chmod \(from)" : nil
    case 13: target.setTime(of: from) ? "touch \(from)" : nil
    default: from != to && target.exchange(from, to) ? "exchange \(from) \(to)" : nil
    }
  }
}

/// Where calls are made. Each says whether it was done.
protocol RandomCallTarget {
  var mark: String { get }
  func paths() -> [String]
  func write(_ text: String, to path: String) -> Bool
  func append(_ text: String, to path: String) -> Bool
  func makeDirectory(_ path: String) -> Bool
  func move(_ path: String, _ newPath: String) -> Bool
  func exchange(_ path: String, _ other: String) -> Bool
  func delete(_ path: String) -> Bool
  func deleteTree(_ path: String) -> Bool
  func makeLink(_ path: String, _ newPath: String) -> Bool
  func makeSymbolicLink(_ path: String) -> Bool
  func setMode(_ mode: UInt32, of path: String) -> Bool
  func setTime(of path: String) -> Bool
}

struct VolumeCalls: RandomCallTarget {
  let volume: KeptVolume
  let mark = ""

  func paths() -> [String] { volume.paths() }

  private func kind(_ path: String) -> ItemKind? { volume.attributes(path)?.kind }

  /// The kernel forgets what a call has left without a name.
  private func removing(_ path: String, _ call: () -> String?) -> Bool {
    let node = volume.find(path).node
    guard call() == nil else { return false }
    if let node, volume.find(path).node != node { volume.forget(node) }
    return true
  }

  func write(_ text: String, to path: String) -> Bool {
    switch kind(path) {
    case nil: return volume.write(text, to: path) == nil
    case .file: return volume.change(path) { $0.size = 0 } == nil && volume.write(text, to: path) == nil
    default: return false
    }
  }

  func append(_ text: String, to path: String) -> Bool {
    guard kind(path) == .file, let size = volume.attributes(path)?.size else { return false }
    return volume.write(text, to: path, at: size) == nil
  }

  func makeDirectory(_ path: String) -> Bool { volume.makeDirectory(path) == nil }
  func move(_ path: String, _ newPath: String) -> Bool {
    removing(newPath) { volume.rename(path, to: newPath) }
  }
  func exchange(_ path: String, _ other: String) -> Bool { volume.rename(path, to: other, .exchange) == nil }
  func delete(_ path: String) -> Bool { kind(path) != .directory && removing(path) { volume.unlink(path) } }
  func deleteTree(_ path: String) -> Bool {
    guard kind(path) == .directory else { return false }
    let nodes = ([path] + volume.paths(path)).map { volume.node($0) }
    guard volume.remove(path) == nil else { return false }
    for node in nodes { volume.forget(node) }
    return true
  }
  func makeLink(_ path: String, _ newPath: String) -> Bool {
    kind(path) == .file && volume.link(path, to: newPath) == nil
  }
  func makeSymbolicLink(_ path: String) -> Bool { volume.makeLink(path, to: "t") == nil }
  func setMode(_ mode: UInt32, of path: String) -> Bool {
    guard let kind = kind(path), kind != .symlink else { return false }
    return volume.change(path) { $0.mode = mode } == nil
  }
  func setTime(of path: String) -> Bool {
    volume.change(path) { $0.modificationTime = .at(Timestamp(seconds: 5, nanoseconds: 0)) } == nil
  }
}

struct SourceCalls: RandomCallTarget {
  let source: Scratch
  let mark = "S "

  private func kind(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(source.full(path), &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  func paths() -> [String] { paths(below: "") }

  private func paths(below directory: String) -> [String] {
    guard let stream = opendir(source.full(directory)) else { return [] }
    defer { closedir(stream) }
    var found: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard name != ".", name != ".." else { continue }
      let path = directory.isEmpty ? name : "\(directory)/\(name)"
      found.append(path)
      if kind(path) == S_IFDIR { found += paths(below: path) }
    }
    return found
  }

  private func write(_ text: String, to path: String, _ flags: CInt) -> Bool {
    let file = open(source.full(path), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0o644)
    guard file >= 0 else { return false }
    defer { close(file) }
    return Array(text.utf8).withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == text.utf8.count
  }

  func write(_ text: String, to path: String) -> Bool { write(text, to: path, O_TRUNC) }
  func append(_ text: String, to path: String) -> Bool { kind(path) == S_IFREG && write(text, to: path, O_APPEND) }
  func makeDirectory(_ path: String) -> Bool { mkdir(source.full(path), 0o755) == 0 }
  func move(_ path: String, _ newPath: String) -> Bool { rename(source.full(path), source.full(newPath)) == 0 }
  func exchange(_ path: String, _ other: String) -> Bool {
    // Glibc's module has no renameat2(2).
    guard kind(path) != nil, kind(other) != nil, !path.hasPrefix(other), !other.hasPrefix(path) else { return false }
    return move(path, "other") && move(other, path) && move("other", other)
  }
  func delete(_ path: String) -> Bool { unlink(source.full(path)) == 0 }
  func deleteTree(_ path: String) -> Bool {
    guard kind(path) == S_IFDIR else { return false }
    for below in paths(below: path).reversed() { _ = Glibc.remove(source.full(below)) }
    return rmdir(source.full(path)) == 0
  }
  /// Of several names of a written file SOURCE may give one to another item: what becomes of the others is the matter
  /// of `KeptLinksTests`.
  func makeLink(_ path: String, _ newPath: String) -> Bool { false }
  func makeSymbolicLink(_ path: String) -> Bool { symlink("t", source.full(path)) == 0 }
  func setMode(_ mode: UInt32, of path: String) -> Bool {
    kind(path) != S_IFLNK && chmod(source.full(path), mode_t(mode)) == 0
  }
  func setTime(of path: String) -> Bool {
    let times = [timespec(tv_sec: 5, tv_nsec: 0), timespec(tv_sec: 5, tv_nsec: 0)]
    return utimensat(AT_FDCWD, source.full(path), times, AT_SYMLINK_NOFOLLOW) == 0
  }
}
