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
  /// Of the directory that is being filled.
  private var path: [[UInt8]] = []
  /// Files that have further names to come, and how many.
  private var linked: [Int64: (file: ExportedFile, names: Int)] = [:]
  /// LIMIT: files in it, which have two descriptors each. What has no room there is copied once for each name.
  private static let linkedMax = 128
  private var done = 0
  /// How often progress is told.
  private static let step = 64

  init(
    to target: CInt, content: DiskContentStore?, _ options: StateExport.Options, _ report: StateExport.Report
  ) {
    self.target = target
    self.content = content
    self.options = options
    self.report = report
  }

  mutating func write(_ tree: ExportTree, progress: (Int, Int) throws(FSError) -> Void) throws(FSError) {
    var directories = try ExportDirectories(target: target)
    var ways = [Way(ItemRow.root)]
    try writeEntries(of: ItemRow.root, tree, directories, progress)
    while let way = ways.last {
      guard let directory = tree.directories[way.id], way.next < directory.directories.count else {
        leave(&directories)
        ways.removeLast()
        continue
      }
      ways[ways.count - 1].next += 1
      let child = directory.directories[way.next]
      try count(tree, progress)
      guard let entry = tree.directories[child]?.entry, enter(entry, &directories) else { continue }
      ways.append(Way(child))
      try writeEntries(of: child, tree, directories, progress)
    }
  }

  /// A directory on the way, and which of its directories is next.
  private struct Way {
    let id: Int64
    var next = 0
    init(_ id: Int64) { self.id = id }
  }

  private mutating func count(
    _ tree: ExportTree, _ progress: (Int, Int) throws(FSError) -> Void
  ) throws(FSError) {
    done += 1
    if done % Self.step == 0 { try progress(done, tree.count) }
  }

  // MARK: - Directories

  private mutating func enter(_ entry: ExportTree.Entry, _ directories: inout ExportDirectories) -> Bool {
    let attributes = entry.row.record.attributes
    do throws(FSError) {
      let mode = attributes.map { mode_t($0.mode & options.modes) }
      let isMade = try directories.enter(entry.name, mode: mode, times: attributes.map(Self.times))
      // Not those on the way.
      if isMade, !entry.row.isOfStore { report.directories += 1 }
      path.append(entry.name)
      return true
    } catch {
      report.skip(
        Self.joined(path + [entry.name]), FSError(error.errno, error.message + ", so what is in it is left out"))
      return false
    }
  }

  private mutating func leave(_ directories: inout ExportDirectories) {
    do throws(FSError) {
      try directories.leave()
    } catch {
      report.skip(Self.joined(path), error)
    }
    if !path.isEmpty { path.removeLast() }
  }

  // MARK: - Everything else

  private mutating func writeEntries(
    of id: Int64, _ tree: ExportTree, _ directories: ExportDirectories,
    _ progress: (Int, Int) throws(FSError) -> Void
  ) throws(FSError) {
    for entry in tree.directories[id]?.entries ?? [] {
      try count(tree, progress)
      do throws(FSError) {
        try write(entry, in: try directories.current())
      } catch {
        report.skip(Self.joined(path + [entry.name]), error)
      }
    }
  }

  private mutating func write(_ entry: ExportTree.Entry, in parent: OwnedFile) throws(FSError) {
    let record = entry.row.record
    let mode = mode_t((record.attributes?.mode ?? 0o600) & options.modes)
    let name = entry.name.map { CChar(bitPattern: $0) } + [0]
    switch entry.row.kind ?? .directory {
    case .directory: return
    case .symlink:
      let target = record.target.map { CChar(bitPattern: $0) } + [0]
      try Self.make { symlinkat(target, parent.raw, name) }
      report.links += 1
    case .file:
      if link(entry, as: name, in: parent) { return report.links += 1 }
      let file = try ExportedFile(name, in: parent)
      do throws(FSError) {
        let size = try copy(entry.row, to: file.raw)
        try file.finish(mode: mode, times: record.attributes.map(Self.times))
        report.files += 1
        report.bytes += size
        if entry.names > 1, linked.count < Self.linkedMax { linked[entry.row.id] = (file, entry.names - 1) }
      } catch {
        // Half a file would look like the whole.
        file.discard()
        throw error
      }
    case .fifo, .socket, .characterDevice, .blockDevice:
      guard options.includesDevices else {
        throw FSError(.notPermitted, "devices, FIFOs and sockets are made only with --devices")
      }
      let type = mode_t((record.attributes?.mode ?? 0) & UInt32(S_IFMT))
      let device = dev_t(record.attributes?.specialDevice ?? 0)
      try Self.make { mknodat(parent.raw, name, type | mode, device) }
      report.files += 1
    }
  }

  private mutating func link(_ entry: ExportTree.Entry, as name: [CChar], in parent: OwnedFile) -> Bool {
    guard let (file, names) = linked[entry.row.id] else { return false }
    linked[entry.row.id] = names > 1 ? (file, names - 1) : nil
    return file.link(to: name, in: parent)
  }

  private static func make(_ call: () -> CInt) throws(FSError) {
    guard call() == 0 else { throw FSError(Errno(rawValue: errno), "cannot make it") }
  }

  /// - Returns: Bytes.
  private func copy(_ row: ItemRow, to file: CInt) throws(FSError) -> Int64 {
    // Made, or cut off, and never written to.
    guard let id = row.content else { return 0 }
    guard let content else { throw FSError(.ioError, "its content is not there") }
    if content.adoption.isRefused(id) {
      throw FSError(.notPermitted, "the file of its content is not this user's alone. Run 'dataless check'")
    }
    let size = try content.size(of: id)
    guard ftruncate(file, off_t(size)) == 0 else { throw FSError(Errno(rawValue: errno), "cannot make room") }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while let data = try Self.data(of: id, content, from: offset, size: size) {
      offset = data.lowerBound
      while offset < data.upperBound {
        let part = UnsafeMutableRawBufferPointer(
          rebasing: buffer[..<Int(min(Int64(buffer.count), data.upperBound - offset))])
        let count = try content.read(id, into: part, at: offset)
        guard count > 0 else { throw FSError(.ioError, "its content is shorter than it was") }
        let written = pwrite(file, buffer.baseAddress, count, off_t(offset))
        guard written > 0 else { throw FSError(written < 0 ? Errno(rawValue: errno) : .noSpace, "cannot write it") }
        offset += Int64(written)
      }
    }
    return size
  }

  /// The next bytes that are no hole; nil if there are none.
  private static func data(
    of id: ContentID, _ content: DiskContentStore, from offset: Int64, size: Int64
  ) throws(FSError) -> Range<Int64>? {
    guard offset < size else { return nil }
    do throws(FSError) {
      let start = try content.seek(id, from: offset, hole: false)
      let end = try content.seek(id, from: start, hole: true)
      return start..<max(start, end)
    } catch {
      if error.errno == .noSuchAddressOrDevice { return nil }
      throw error
    }
  }

  private static func times(_ attributes: ItemAttributes) -> [timespec] {
    [attributes.accessTime, attributes.modificationTime].map {
      timespec(tv_sec: Int($0.seconds), tv_nsec: Int($0.nanoseconds))
    }
  }

  private static func joined(_ path: [[UInt8]]) -> [UInt8] { Array(path.joined(separator: [UInt8(ascii: "/")])) }
}

extension StateExport.Options {
  /// Bits of modes that are set.
  fileprivate var modes: UInt32 { keepsSetID ? 0o7777 : 0o777 }
}
