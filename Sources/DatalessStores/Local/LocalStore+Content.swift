public import DatalessCore
internal import SystemPackage

extension LocalStore {
  public func open(_ file: StoreItem) throws(FSError) -> any StoreContent {
    guard file.attributes.kind == .file else {
      throw stale(file, "it was not listed as a regular file")
    }
    let opened: OpenItem
    do throws(Errno) {
      opened = try OpenItem(openFile(file.path))
    } catch {
      throw failure(error, file)
    }
    let now = opened.status.attributes(home: root.device)
    if let change = LocalStoreContent.change(from: file.attributes, to: now) { throw stale(file, change) }
    let generation = generation(opened.raw, device: now.device)
    return LocalStoreContent(
      opened.take(), generation: generation, listed: file.attributes, home: root.device, name: file.displayPath)
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
