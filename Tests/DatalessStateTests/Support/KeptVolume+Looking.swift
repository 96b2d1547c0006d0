import DatalessCore
@testable import DatalessState
import DatalessStores
import Synchronization
import SystemPackage

/// What programs see, by path.
extension KeptVolume {
  /// The content of a file, fetched if need be; an errno's name if that fails.
  func read(_ path: String) -> String {
    let node = node(path)
    if let errno = bring(node, .read) { return errno }
    guard
      case .resident(let content, let count) = engine.read(
        node, handle: 0, offset: 0, length: 1 << 20, isDirect: true, threadID: 10)
    else { return "not resident" }
    guard count > 0 else { return "" }
    var buffer = [UInt8](repeating: 0, count: count)
    let found = buffer.withUnsafeMutableBytes { bytes -> Int in
      (try? state.content.read(content, into: bytes, at: 0)) ?? -1
    }
    return found == count ? String(decoding: buffer, as: UTF8.self) : "short: \(found) of \(count)"
  }

  func names(_ path: String) -> [String] {
    let node = node(path)
    if let errno = bring(node, .readdir) { return [errno] }
    var found: [String] = []
    _ = engine.readDirectory(node, from: 2) { entry in
      found.append(String(decoding: entry.name, as: UTF8.self))
      return true
    }
    return found.sorted()
  }

  func attributes(_ path: String) -> ItemAttributes? { engine.attributes(of: node(path))?.attributes }

  private func ask(
    _ call: (@escaping @Sendable (Result<[UInt8], FSError>) -> Void) -> Void
  ) -> String {
    let answer = Mutex("pending")
    call { result in
      switch result {
      case .success(let bytes): answer.withLock { $0 = String(decoding: bytes, as: UTF8.self) }
      case .failure(let error): answer.withLock { $0 = error.errno.name }
      }
    }
    run()
    return answer.withLock { $0 }
  }

  func target(_ path: String) -> String {
    let node = node(path)
    return ask { engine.readLink(node, threadID: 10, waiter: makeWaiter(), completion: $0) }
  }

  func attribute(_ name: String, of path: String) -> String {
    let node = node(path)
    switch bytes(name).withUnsafeBufferPointer({ engine.extendedAttributeCall(node, name: $0) }) {
    case .value(let value): return String(decoding: value, as: UTF8.self)
    case .absent: return "ENODATA"
    default: break
    }
    return ask {
      engine.extendedAttribute(bytes(name), of: node, threadID: 10, waiter: makeWaiter(), completion: $0)
    }
  }

  /// All that callers see, a line for each name. Fetches everything.
  func tree(_ path: String = "") -> [String] {
    var lines: [String] = []
    for name in names(path) {
      let full = path.isEmpty ? name : "\(path)/\(name)"
      guard let found = attributes(full) else {
        lines.append("\(full): \(find(full).errno ?? "gone")")
        continue
      }
      var line =
        "\(full): \(String(found.mode, radix: 8)) \(found.uid):\(found.gid) ino \(found.inode) links \(found.linkCount)"
        + " mtime \(found.modificationTime.seconds).\(found.modificationTime.nanoseconds)"
      switch found.kind {
      case .file: line += " size \(found.size) '\(read(full))'"
      case .symlink: line += " -> \(target(full))"
      default: break
      }
      lines.append(line + " x '\(attribute("user.x", of: full))'")
      if found.kind == .directory { lines += tree(full) }
    }
    return lines
  }

  /// Paths of all that callers see.
  func paths(_ path: String = "") -> [String] {
    var found: [String] = []
    for name in names(path) where name != "ESTALE" {
      let full = path.isEmpty ? name : "\(path)/\(name)"
      found.append(full)
      if attributes(full)?.kind == .directory { found += paths(full) }
    }
    return found
  }
}
