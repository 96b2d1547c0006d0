import CDatalessLinux
import DatalessCore
import DatalessStores
import Glibc
import SystemPackage

/// Writes items beneath a directory. Every name is looked up in the descriptor of the directory above, no link is
/// followed, no other file system entered, and what is there stays.
struct ExportWriter {
  private let target: CInt
  private let content: DiskContentStore?
  private let options: StateExport.Options
  private(set) var report: StateExport.Report
  /// Modes of directories, set when all is in them.
  private var directories: [(path: [[UInt8]], mode: mode_t)] = []

  init(
    to target: CInt, content: DiskContentStore?, _ options: StateExport.Options, _ report: StateExport.Report
  ) {
    self.target = target
    self.content = content
    self.options = options
    self.report = report
  }

  mutating func write(_ item: ExportedItem) {
    do throws(FSError) {
      try writeOrThrow(item)
    } catch {
      report.skip(Self.text(item.path), error.description)
    }
  }

  /// Sets what would have been in the way before.
  mutating func finish() {
    for (path, mode) in directories.reversed() {
      if let directory = try? open(path, creating: false) { fchmod(directory.raw, mode) }
    }
    directories = []
  }

  private mutating func writeOrThrow(_ item: ExportedItem) throws(FSError) {
    guard let name = item.path.last else { return }
    let parent = try open(Array(item.path.dropLast()), creating: true)
    let attributes = item.row.record.attributes
    let mode = mode_t((attributes?.mode ?? 0o600) & (options.includesSpecial ? 0o7777 : 0o777))
    switch item.row.kind ?? .directory {
    case .directory:
      // One that is there will do, as it is.
      guard Self.withText(name, { mkdirat(parent.raw, $0, 0o700) == 0 || errno != EEXIST }) else { return }
      report.directories += 1
      directories.append((item.path, mode))
    case .symlink:
      let target = item.row.record.target
      try make(name) { name in Self.withText(target) { symlinkat($0, parent.raw, name) } }
      report.links += 1
    case .file: try writeFile(item, name, in: parent, mode)
    case .fifo, .socket, .characterDevice, .blockDevice:
      guard options.includesSpecial else { throw FSError(.notPermitted, "it is no file, directory or link") }
      let type = mode_t((attributes?.mode ?? 0) & UInt32(S_IFMT))
      let device = dev_t(attributes?.specialDevice ?? 0)
      try make(name) { mknodat(parent.raw, $0, type | mode, device) }
      report.files += 1
    }
  }

  private func make(_ name: [UInt8], _ call: ([CChar]) -> CInt) throws(FSError) {
    let error = Self.withText(name) { call($0) == 0 ? 0 : errno }
    guard error == 0 else { throw FSError(Errno(rawValue: error), "cannot make it") }
  }

  private mutating func writeFile(
    _ item: ExportedItem, _ name: [UInt8], in parent: OwnedFile, _ mode: mode_t
  ) throws(FSError) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | CLINUX_O_NOFOLLOW | CLINUX_O_CLOEXEC
    let opened = Self.withText(name) { clinux_openat(parent.raw, $0, flags, 0o600) }
    guard opened >= 0 else { throw FSError(Errno(rawValue: CInt(-opened)), "cannot make it") }
    let file = OwnedFile(CInt(opened))
    do throws(FSError) {
      let size = try copy(item.row.content, to: file)
      if let attributes = item.row.record.attributes {
        let times = [attributes.accessTime, attributes.modificationTime].map {
          timespec(tv_sec: Int($0.seconds), tv_nsec: Int($0.nanoseconds))
        }
        futimens(file.raw, times)
      }
      guard fchmod(file.raw, mode) == 0 else { throw FSError(Errno(rawValue: errno), "cannot set its mode") }
      report.files += 1
      report.bytes += size
    } catch {
      // Half a file would look like the whole.
      _ = Self.withText(name) { unlinkat(parent.raw, $0, 0) }
      throw error
    }
  }

  /// - Returns: Bytes.
  private func copy(_ id: ContentID?, to file: OwnedFile) throws(FSError) -> Int64 {
    // Made, or cut off, and never written to.
    guard let id else { return 0 }
    guard let content else { throw FSError(.ioError, "its content is not there") }
    let size = try content.size(of: id)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    guard ftruncate(file.raw, off_t(size)) == 0 else { throw FSError(Errno(rawValue: errno), "cannot make room") }
    var offset: Int64 = 0
    while offset < size {
      let count = try content.read(id, into: buffer, at: offset)
      guard count > 0 else { throw FSError(.ioError, "its content is shorter than it was") }
      let written = pwrite(file.raw, buffer.baseAddress, count, off_t(offset))
      guard written > 0 else { throw FSError(written < 0 ? Errno(rawValue: errno) : .noSpace, "cannot write it") }
      offset += Int64(written)
    }
    return size
  }

  // MARK: - Directories

  /// A directory beneath the target.
  private func open(_ path: [[UInt8]], creating: Bool) throws(FSError) -> OwnedFile {
    var here = OwnedFile(dup(target))
    for name in path {
      let resolve = CLINUX_RESOLVE_BENEATH | CLINUX_RESOLVE_NO_SYMLINKS | CLINUX_RESOLVE_NO_XDEV
      let flags = UInt64(UInt32(bitPattern: O_RDONLY | CLINUX_O_DIRECTORY | CLINUX_O_NOFOLLOW | CLINUX_O_CLOEXEC))
      let opened = Self.withText(name) { text in
        if creating { _ = mkdirat(here.raw, text, 0o700) }
        return clinux_openat2(here.raw, text, flags, 0, resolve)
      }
      guard opened >= 0 else {
        throw FSError(Errno(rawValue: CInt(-opened)), "cannot open '\(String(decoding: name, as: UTF8.self))' above it")
      }
      here = OwnedFile(CInt(opened))
    }
    return here
  }

  /// As C has it. It has no NUL in it: that was checked.
  private static func withText<Result>(_ name: [UInt8], _ body: ([CChar]) -> Result) -> Result {
    body(name.map { CChar(bitPattern: $0) } + [0])
  }

  private static func text(_ path: [[UInt8]]) -> String {
    path.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
  }
}
