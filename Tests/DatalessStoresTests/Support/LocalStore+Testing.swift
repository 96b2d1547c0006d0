import DatalessCore
import DatalessStores
import SystemPackage

extension BackingStore {
  var rootItem: StoreItem { StoreItem(path: [], attributes: root) }

  func entries(_ directory: StoreItem) throws(FSError) -> [StoreEntry] {
    var all: [StoreEntry] = []
    try list(directory) { (batch) throws(FSError) in all += (0..<batch.count).map { batch[$0] } }
    return all
  }

  /// The item at a path, listed level by level; nil if a listing does not have it.
  func item(_ path: String) throws(FSError) -> StoreItem? {
    var item = rootItem
    for component in path.split(separator: "/") {
      let name = Array(component.utf8)
      guard let entry = try entries(item).first(where: { $0.name == name }) else { return nil }
      item = child(entry, of: item)
    }
    return item
  }

  func child(_ entry: StoreEntry, of directory: StoreItem) -> StoreItem {
    let path = directory.path + (directory.path.isEmpty ? [] : [UInt8(ascii: "/")]) + entry.name
    return StoreItem(path: path, attributes: entry.attributes)
  }

  /// Opens, reads to the listed end and verifies, as a materialization does.
  func content(_ item: StoreItem) throws(FSError) -> [UInt8] {
    let content = try open(item)
    defer { content.close() }
    let bytes = try content.bytes(0..<item.attributes.size)
    try content.verify()
    return bytes
  }
}

extension StoreContent {
  func bytes(_ range: Range<Int64>) throws(FSError) -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(range.count, 1), alignment: 16)
    defer { buffer.deallocate() }
    let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<range.count]), at: range.lowerBound)
    return [UInt8](buffer[..<count])
  }
}
