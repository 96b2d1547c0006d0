internal import CDatalessLinux
public import DatalessCore
internal import Glibc
internal import SystemPackage

/// A state directory as it was, in another one.
public enum StateCopy {
  /// What SOURCE is called in a state directory, ready to be shown. - Parameter scratch: As for `StateCheck.run`.
  ///
  /// - Throws: EIO (the catalog cannot be read: run `check`; or it is another directory's).
  public static func source(of directory: StateDirectory, scratch: String = "/tmp") throws(FSError) -> String {
    let copy = try CatalogCopy(of: directory, in: scratch)
    defer { copy.remove() }
    try directory.refuseForeign(copy.place.path(StateName.catalog))
    let catalog = try Catalog(copy.place.path(StateName.catalog), .writing, home: 0)
    let name = try catalog.read("cannot read the catalog of '\(directory.path)'") { connection in
      try directory.refuseForeign(connection)
      return try connection.setting(.source)
    }
    try catalog.close()
    guard let name else { throw FSError(.ioError, "'\(directory.path)' does not say what its SOURCE is") }
    return String(decoding: name, as: UTF8.self)
  }

  /// Copies what is kept: content, catalog, and at last the marker, so that what is cut off is no state directory. The
  /// log stays behind.
  ///
  /// - Parameters:
  ///   - directory: Opened with `.look`.
  ///   - target: An empty directory of this user's alone; not closed. On the disk when this returns, and empty again
  ///     when this throws.
  ///   - isFinished: False: something is still to be done with it: it is refused by volumes until `finish`.
  ///   - progress: Called with the bytes that are copied, and those that there are, now and then; what it throws ends
  ///     the copy.
  /// - Throws: ENOTEMPTY (nothing was changed), EIO, ENOSPC.
  public static func copy(
    _ directory: StateDirectory, to target: CInt, isFinished: Bool = true,
    progress: (_ done: Int64, _ all: Int64) throws(FSError) -> Void = { (_, _) throws(FSError) in }
  ) throws(FSError) {
    let names = try StateDirectory.naming(directory.path) { () throws(Errno) in
      try StateFiles(directory: target).names().filter { $0 != Array("lost+found".utf8) }
    }
    guard names.isEmpty else { throw FSError(.directoryNotEmpty, "the new state directory is not empty") }
    do throws(FSError) {
      try fill(target, from: directory, isFinished: isFinished, progress: progress)
    } catch {
      discard(target)
      throw error
    }
  }

  /// All was done with a copy. On the disk when this returns.
  public static func finish(_ target: CInt) throws(FSError) {
    do throws(Errno) {
      let files = StateFiles(directory: target)
      files.remove(StateName.unfinished)
      try files.sync(target)
    } catch {
      throw FSError(error, "cannot finish the new state directory")
    }
  }

  /// Removes what a copy has made; its marker first, so that what is left is no state directory.
  public static func discard(_ target: CInt) {
    let files = StateFiles(directory: target)
    files.remove(StateName.marker)
    if let descriptor = try? files.open(StateName.content, O_RDONLY | CLINUX_O_DIRECTORY) {
      let content = OwnedFile(descriptor)
      let contents = StateFiles(directory: content.raw)
      for name in (try? contents.names()) ?? [] { contents.remove(String(decoding: name, as: UTF8.self)) }
      unlinkat(target, StateName.content, AT_REMOVEDIR)
    }
    for name in StateName.files { files.remove(name) }
  }

  private static func fill(
    _ target: CInt, from directory: StateDirectory, isFinished: Bool,
    progress: (Int64, Int64) throws(FSError) -> Void
  ) throws(FSError) {
    let new = StateFiles(directory: target)
    let failure = "cannot copy '\(directory.path)'"
    func naming<Result>(_ body: () throws(Errno) -> Result) throws(FSError) -> Result {
      do throws(Errno) { return try body() } catch { throw FSError(error, failure) }
    }
    let names = try StateInspection.names(directory.files, directory.path)
    guard !names.contains(StateName.rescuedCatalog) else {
      throw FSError(.ioError, "'\(directory.path)' is half repaired. Run 'dataless check' on it first")
    }
    var (copied, all): (Int64, Int64) = (0, 0)
    if names.contains(StateName.content) {
      let from = OwnedFile(
        try naming { () throws(Errno) in
          try directory.files.open(StateName.content, O_RDONLY | CLINUX_O_DIRECTORY)
        })
      guard mkdirat(target, StateName.content, 0o700) == 0 else { throw FSError(Errno(rawValue: errno), failure) }
      let to = OwnedFile(
        try naming { () throws(Errno) in try new.open(StateName.content, O_RDONLY | CLINUX_O_DIRECTORY) })
      let (content, copy) = (StateFiles(directory: from.raw), StateFiles(directory: to.raw))
      var files: [String] = []
      for name in try naming({ () throws(Errno) in try content.names() }) {
        let name = String(decoding: name, as: UTF8.self)
        let status = try naming { () throws(Errno) in try content.status(name) }
        guard status.isFile else { continue }
        files.append(name)
        all += status.size
        try progress(0, all)
      }
      for name in files {
        copied += try naming { () throws(Errno) in try Self.copy(name, from: content, to: copy) }
        try progress(copied, max(all, copied))
      }
    }
    for name in [StateName.session, StateName.catalog, StateName.catalog + "-wal"] where names.contains(name) {
      copied += try naming { () throws(Errno) in try Self.copy(name, from: directory.files, to: new) }
    }
    let result = clinux_sync_file_system(target)
    guard result == 0 else { throw FSError(Errno(rawValue: CInt(-result)), failure) }
    try naming { () throws(Errno) in
      if !isFinished { try new.write(StateName.unfinished, []) }
      try new.write(StateName.marker, directory.marker.text)
      try new.sync(target)
    }
  }

  /// SEEK_DATA, which is a macro of _GNU_SOURCE alone.
  private static let seekData: CInt = 3

  /// Holes stay holes. - Returns: The file's size.
  private static func copy(_ name: String, from: StateFiles, to: StateFiles) throws(Errno) -> Int64 {
    let source = OwnedFile(try from.open(name, O_RDONLY))
    let target = OwnedFile(try to.open(name, O_WRONLY | O_CREAT | O_EXCL))
    let size = try from.status(name).size
    if clinux_clone_file(target.raw, source.raw) == 0 { return size }
    guard ftruncate(target.raw, off_t(size)) == 0 else { throw Errno(rawValue: errno) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    var offset: off_t = 0
    while offset < size {
      let data = lseek(source.raw, offset, seekData)
      if data < 0 {
        // The rest is a hole; whatever else is wrong, it must not become one.
        guard errno == ENXIO else { throw Errno(rawValue: errno) }
        break
      }
      let count = pread(source.raw, buffer.baseAddress, buffer.count, data)
      guard count > 0 else { throw count < 0 ? Errno(rawValue: errno) : .ioError }
      var written = 0
      while written < count {
        let rest = UnsafeRawBufferPointer(rebasing: buffer[written..<count])
        let part = pwrite(target.raw, rest.baseAddress, rest.count, data + off_t(written))
        guard part > 0 else { throw part < 0 ? Errno(rawValue: errno) : .noSpace }
        written += part
      }
      offset = data + off_t(count)
    }
    return size
  }
}
