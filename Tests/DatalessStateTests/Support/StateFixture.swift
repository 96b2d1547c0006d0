import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import SystemPackage

/// A state directory and what a daemon has beside it.
final class StateFixture {
  let scratch: Scratch
  let lane = ManualLane()
  let timer = ManualTimer()
  private var last: UInt64 = 0

  static let root = attributes(inode: 2, kind: .directory, device: 77)

  init(_ scratch: Scratch = Scratch()) { self.scratch = scratch }

  /// Another one with a copy of what is in this one's directory, as a crash would leave it now.
  func copy() -> StateFixture {
    let copy = StateFixture()
    scratch.copy(to: copy.scratch)
    return copy
  }

  func directory(_ use: StateDirectory.Use = .keep) throws(FSError) -> StateDirectory {
    let descriptor = scratch.openDirectory()
    defer { close(descriptor) }
    return try StateDirectory(descriptor, path: scratch.path, use)
  }

  func open(source: String = "/source", root: ItemAttributes = root) throws(FSError) -> StateVolume {
    last = 0
    return try StateVolume(try directory(), source: source, root: root, lane: lane, timer: timer)
  }

  /// Opens a volume, lets it be changed, and closes it.
  func run(_ body: (StateVolume) throws -> Void) throws {
    let volume = try open()
    try body(volume)
    try volume.close()
  }

  /// Appends a change and commits it.
  func keep(_ changes: StateChange..., in volume: StateVolume) throws(FSError) {
    for change in changes {
      last += 1
      volume.journal.append(change, ChangeNumber(rawValue: last))
    }
    try volume.journal.commit()
  }

  func check(isDryRun: Bool = false) throws(FSError) -> StateCheckReport {
    try StateCheck.run(try directory(isDryRun ? .look : .repair), isDryRun: isDryRun, scratch: Scratch.base)
  }

  /// A check that repairs, and is cut off before its repair is committed.
  func stopCheck() throws(FSError) {
    let directory = try directory(.repair)
    do throws(FSError) {
      _ = try StateCheck.run(directory, isDryRun: false, scratch: Scratch.base) { (progress) throws(FSError) in
        if progress.step == .leftovers { throw FSError(.interrupted, "stopped") }
      }
    } catch {
      if error.errno == .interrupted { return }
      throw error
    }
    throw FSError(.notSupported, "it has come to its end")
  }

  /// What `export` gets out of it: the content of each file below the root.
  func texts() throws -> Set<String> {
    let target = Scratch("export")
    let descriptor = target.openDirectory()
    defer { close(descriptor) }
    _ = try StateExport.run(try directory(.look), to: descriptor, scratch: Scratch.base)
    return Set(target.files().map { String(decoding: target.read($0), as: UTF8.self) })
  }
}

extension Scratch {
  static var base: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }
}

func attributes(inode: UInt64, kind: ItemKind = .file, size: Int64 = 0, device: UInt64 = 77) -> ItemAttributes {
  ItemAttributes(
    device: device, inode: inode, mode: UInt32(kind.rawValue) << 12 | 0o644, linkCount: 1, uid: 10, gid: 20,
    specialDevice: 0, size: size, blocks: (size + 511) / 512, accessTime: Timestamp(seconds: 1, nanoseconds: 2),
    modificationTime: Timestamp(seconds: 3, nanoseconds: 4), changeTime: Timestamp(seconds: 5, nanoseconds: 6),
    birth: inode)
}

/// An item of the store.
func stored(
  _ key: String, node: UInt64, inode: UInt64, kind: ItemKind = .file, size: Int64 = 4, device: UInt64 = 77
) -> ChangedItem {
  let version = StoreVersion(attributes(inode: inode, kind: kind, size: size, device: device))
  return ChangedItem(
    NodeID(rawValue: node), inode: inode, binding: StoreBinding(key: Array(key.utf8), version: version))
}

/// An item of the volume's own.
func own(node: UInt64, _ number: UInt64) -> ChangedItem {
  ChangedItem(NodeID(rawValue: node), inode: 1 << 62 | number, binding: nil)
}

let root = ChangedItem(.root, inode: 2, binding: StoreBinding(key: [], version: StoreVersion(StateFixture.root)))

extension DiskContentStore {
  /// Content of its own with these bytes.
  func make(_ text: String) throws(FSError) -> ContentID {
    let id = try makeWritable(size: Int64(text.utf8.count), copying: nil)
    let writer = try rangeWriter(id)
    defer { writer.finish() }
    let failure: FSError? = bytes(text).withUnsafeBytes { buffer in
      do throws(FSError) { try writer.write(buffer, at: 0) } catch { return error }
      return nil
    }
    if let failure { throw failure }
    return id
  }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Keeps a file that was made ("made here"), in a directory that was made, and one of the store's that was changed
/// ("changed").
///
/// - Returns: The directory.
func keepSomeFiles(_ fixture: StateFixture, in volume: StateVolume) throws -> ChangedItem {
  let (file, directory, changed) = (own(node: 50, 1), own(node: 51, 2), stored("d/f", node: 52, inode: 11))
  try fixture.keep(
    .together([
      .made(directory, attributes(inode: directory.inode, kind: .directory), target: []),
      .named(directory, name: bytes("directory"), in: root),
    ]),
    .together([
      .made(file, attributes(inode: file.inode), target: []), .named(file, name: bytes("file"), in: directory),
    ]),
    .dirty(of: file, try volume.content.make("made here")), .dirty(of: changed, try volume.content.make("changed")),
    in: volume)
  return directory
}
