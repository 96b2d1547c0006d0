public import DatalessCore
internal import Glibc
internal import SystemPackage

/// One open version of one file of a local store. Nothing in it changes but the descriptor's position, which only
/// `nextData` uses.
final class LocalStoreContent: StoreContent {
  let descriptor: CInt?
  let generation: UInt32

  private let raw: CInt
  private let listed: StoreVersion
  /// st_blocks, in units of 512 bytes.
  private let blocks: Int64
  /// st_dev of the store's root, see `FileStatus.attributes(home:)`.
  private let home: UInt64
  /// The path in SOURCE, for messages.
  private let name: String

  init(_ raw: CInt, generation: UInt32, listed: StoreVersion, blocks: Int64, home: UInt64, name: String) {
    self.raw = raw
    descriptor = raw
    self.generation = generation
    self.listed = listed
    self.blocks = blocks
    self.home = home
    self.name = name
  }

  func nextData(from offset: Int64) throws(FSError) -> Range<Int64>? {
    guard offset < listed.size else { return nil }
    // As many blocks as bytes: there is no hole to look for, which saves two calls per file.
    if blocks >= listed.size / 512 + (listed.size % 512 == 0 ? 0 : 1) { return offset..<listed.size }
    do throws(Errno) {
      let start = try SystemCall.seek(raw, offset, hole: false)
      guard start < listed.size else { return nil }
      let end = try SystemCall.seek(raw, start, hole: true)
      // A FUSE file system answers what it likes. Where that is no extent ahead, all counts as data.
      guard start >= offset, end > start else { return offset..<listed.size }
      return start..<min(end, listed.size)
    } catch {
      switch error {
      case .noSuchAddressOrDevice: return nil
      case .invalidArgument, .notSupported, .noFunction: return offset..<listed.size
      default: throw FSError(error, "cannot look for data in '\(name)' in SOURCE")
      }
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FSError) -> Int {
    // Never more than was listed: a file that grew is stale, and its new tail is nobody's business.
    let count = Int(min(Int64(buffer.count), max(listed.size - offset, 0)))
    do throws(Errno) {
      return try SystemCall.read(raw, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
    } catch {
      throw FSError(error, "cannot read '\(name)' in SOURCE at byte \(offset)")
    }
  }

  func verify() throws(FSError) {
    let now: StoreVersion
    do throws(Errno) {
      now = StoreVersion(try FileStatus(of: raw).attributes(home: home))
    } catch {
      throw FSError(error, "cannot look at '\(name)' in SOURCE after reading it")
    }
    if let change = Self.change(from: listed, to: now) {
      throw FSError(.staleNFSFileHandle, "'\(name)' in SOURCE: \(change)")
    }
  }

  func close() {
    _ = Glibc.close(raw)
  }

  /// In what way `now` is another version than `listed`; nil if it is the same.
  static func change(from listed: StoreVersion, to now: StoreVersion) -> String? {
    if now.isSame(as: listed) { return nil }
    if now.kind != listed.kind { return "it is no regular file any more" }
    if now.device != listed.device || now.inode != listed.inode || now.birth != listed.birth {
      return "it was replaced by another file since it was listed"
    }
    if now.size != listed.size {
      return "its size changed from \(listed.size) to \(now.size) bytes since it was listed"
    }
    if now.modificationTime != listed.modificationTime { return "it was written to since it was listed" }
    return "its metadata changed since it was listed (ctime)"
  }
}

extension LocalStore {
  public func open(_ file: StoreBinding) throws(FSError) -> any StoreContent {
    guard file.version.kind == .file else {
      throw stale(file, "it was not listed as a regular file")
    }
    let opened: OpenItem
    do throws(Errno) {
      opened = try OpenItem(openFile(file.key))
    } catch {
      throw failure(error, file)
    }
    let now = opened.status.attributes(home: root.device)
    if let change = LocalStoreContent.change(from: file.version, to: StoreVersion(now)) { throw stale(file, change) }
    let generation = generation(opened.raw, device: now.device)
    return LocalStoreContent(
      opened.release(), generation: generation, listed: file.version, blocks: now.blocks, home: root.device,
      name: file.displayPath)
  }

  private func openFile(_ path: [UInt8]) throws(Errno) -> OwnedDescriptor {
    do throws(Errno) {
      return try openForReading(path)
    } catch {
      guard error == .resourceTemporarilyUnavailable else { throw error }
      return try openWaitingForLease(path)
    }
  }
}
