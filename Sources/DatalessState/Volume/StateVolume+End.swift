internal import DatalessCore
internal import DatalessStores

/// What nobody reaches any more when the volume ends.
extension StateVolume {
  /// LIMIT: rows of removed trees that an end goes through: some ten milliseconds. The next run goes on from there.
  private static let removedAtTheEnd = 4096

  /// Removes what callers had open when it lost its name, and what is left of removed trees: nobody has a handle now,
  /// so that it need not wait for the next run, and a `check` has nothing to say about it.
  ///
  /// The rows are gone before their content is: where this is cut off, the volume has not ended, and the next run looks
  /// for content that nobody names.
  func removeUnreachable() {
    do throws(FSError) {
      let contents = try journal.write("cannot remove what was removed") { writer, connection in
        try writer.removeUnreachable(connection, limit: Self.removedAtTheEnd)
      }
      for id in contents { content.remove(id) }
    } catch {
      // On a full disk, say: the next run does it.
    }
  }
}
