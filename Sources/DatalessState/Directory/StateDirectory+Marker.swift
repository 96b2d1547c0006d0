import DatalessCore
internal import SystemPackage

/// The marker of a state directory: made, read, or found again by the catalog.
extension StateDirectory {
  /// What was found, and why it is not what the directory has; nil if it is.
  struct FoundMarker {
    let marker: StateMarker
    var flaw: String?
  }

  static var markerRemedy: String { "Run 'dataless check', which makes it anew" }

  static func mark(_ files: StateFiles, _ path: String, use: Use) throws(FSError) -> FoundMarker {
    let found: [UInt8]? = try naming(path) { () throws(Errno) in
      do throws(Errno) {
        return try files.read(StateName.marker, limit: StateMarker.limit)
      } catch {
        // Another process may have made it since it was looked for: it is looked for again under the lock.
        if error == .noSuchFileOrDirectory { return nil }
        guard error == .fileTooLarge else { throw error }
        return []
      }
    }
    guard let found else {
      guard use == .keep else { return try recovered(files, path, flaw: "is missing") }
      let marker = StateMarker.random()
      try keep(marker, in: files, path)
      return FoundMarker(marker: marker)
    }
    do throws(StateMarker.Failure) {
      let marker = try StateMarker(parsing: found)
      guard isOutvoted(marker, files) else { return FoundMarker(marker: marker) }
    } catch {
      if case .newer(let format) = error {
        throw FSError(
          .protocolNotSupported,
          "the state directory '\(path)' has format \(format), newer than \(StateMarker.format), which this version knows."
            + " Use the version of dataless that made it, or a newer one")
      }
    }
    guard use != .keep else { throw FSError(.ioError, "'\(path)/\(StateName.marker)' is damaged. \(markerRemedy)") }
    return try recovered(files, path, flaw: "is damaged")
  }

  /// Whether the catalog and what lies beside it say both that they are of another volume: it is the marker then that
  /// was changed.
  private static func isOutvoted(_ marker: StateMarker, _ files: StateFiles) -> Bool {
    guard let other = SessionMark.volume(files), other != Array(marker.volume.utf8) else { return false }
    return Catalog.origin(files.path(StateName.catalog)) == other
  }

  /// - Throws: EIO: the catalog does not say which volume it is of.
  private static func recovered(_ files: StateFiles, _ path: String, flaw: String) throws(FSError) -> FoundMarker {
    if let volume = Catalog.origin(files.path(StateName.catalog)), let marker = StateMarker(volume: volume) {
      return FoundMarker(marker: marker, flaw: "it \(flaw); the catalog says which volume this is")
    }
    let isThere = try naming(path) { () throws(Errno) in
      let names = try files.names()
      return [StateName.catalog, StateName.rescuedCatalog].contains { names.contains(Array($0.utf8)) }
    }
    guard !isThere else {
      throw FSError(
        .ioError,
        "'\(path)/\(StateName.marker)' \(flaw), and '\(StateName.catalog)' does not say which volume it is of. Move that"
          + " away and run 'dataless check' again: what programs wrote gets new names (lost+found-...)")
    }
    // Nothing that is no state directory is made one.
    guard let marker = SessionMark.volume(files).flatMap({ StateMarker(volume: $0) }) else {
      throw FSError(
        .ioError,
        "'\(path)/\(StateName.marker)' \(flaw), and there is no catalog. Put '\(StateName.catalog)' back from where it was"
          + " moved to, and run 'dataless check'")
    }
    return FoundMarker(marker: marker, flaw: "it \(flaw); '\(StateName.session)' says which volume this is")
  }

  /// Puts the marker that was found by the catalog in its place.
  func keepMarker() throws(FSError) { try Self.keep(marker, in: files, path) }

  private static func keep(_ marker: StateMarker, in files: StateFiles, _ path: String) throws(FSError) {
    try naming(path) { () throws(Errno) in
      try files.write(StateName.newMarker, marker.text)
      try files.rename(StateName.newMarker, to: StateName.marker)
    }
  }
}
