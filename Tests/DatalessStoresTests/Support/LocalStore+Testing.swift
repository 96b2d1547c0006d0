import DatalessCore
import DatalessStores
import SystemPackage

/// An item as a walk of the test found it: with all that was listed of it.
struct FoundItem: Equatable {
  var key: [UInt8]
  var attributes: ItemAttributes

  var binding: StoreBinding { StoreBinding(key: key, version: StoreVersion(attributes)) }
}

extension BackingStore {
  var rootItem: FoundItem { FoundItem(key: [], attributes: root) }

  func entries(_ directory: FoundItem) throws(FSError) -> [StoreEntry] {
    var all: [StoreEntry] = []
    try list(directory.binding) { (batch) throws(FSError) in all += (0..<batch.count).map { batch[$0] } }
    return all
  }

  /// The item at a path, listed level by level; nil if a listing does not have it.
  func item(_ path: String) throws(FSError) -> FoundItem? {
    var item = rootItem
    for component in path.split(separator: "/") {
      let name = Array(component.utf8)
      guard let entry = try entries(item).first(where: { $0.name == name }) else { return nil }
      item = child(entry, of: item)
    }
    return item
  }

  func child(_ entry: StoreEntry, of directory: FoundItem) -> FoundItem {
    let key = directory.key + (directory.key.isEmpty ? [] : [UInt8(ascii: "/")]) + entry.name
    return FoundItem(key: key, attributes: entry.attributes)
  }

  /// Opens, reads to the listed end and verifies, as a materialization does.
  func content(_ item: FoundItem) throws(FSError) -> [UInt8] {
    let content = try open(item)
    defer { content.close() }
    let bytes = try content.bytes(0..<item.attributes.size)
    try content.verify()
    return bytes
  }

  func list(_ item: FoundItem, into sink: (ListingBatch) throws(FSError) -> Void) throws(FSError) {
    try list(item.binding, into: sink)
  }

  func open(_ item: FoundItem) throws(FSError) -> any StoreContent { try open(item.binding) }
  func readLink(_ item: FoundItem) throws(FSError) -> [UInt8] { try readLink(item.binding) }
  func generation(of item: FoundItem) -> UInt32 { generation(of: item.binding) }

  func extendedAttribute(_ name: [UInt8], of item: FoundItem) throws(FSError) -> [UInt8] {
    try extendedAttribute(name, of: item.binding)
  }

  func extendedAttributeNames(of item: FoundItem) throws(FSError) -> [[UInt8]] {
    try extendedAttributeNames(of: item.binding)
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
