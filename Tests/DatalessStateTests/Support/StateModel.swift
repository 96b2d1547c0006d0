import DatalessCore
@testable import DatalessState

/// What a catalog has, by inode number: as changes say it, or as it is read.
struct StateModel: Equatable {
  struct Content: Equatable {
    var id: ContentID
    var isDirty: Bool
  }

  struct Name: Hashable {
    var directory: UInt64
    var layer: Int64
    var name: [UInt8]
  }

  struct Attribute: Hashable {
    var item: UInt64
    var name: [UInt8]
  }

  var contents: [UInt64: Content] = [:]
  var names: [Name: UInt64] = [:]
  var attributes: [UInt64: ItemAttributes] = [:]
  var extended: [Attribute: [UInt8]?] = [:]

  mutating func apply(_ change: StateChange) {
    switch change {
    case .together(let changes): for change in changes { apply(change) }
    case .made(let item, let attributes, _, _), .attributes(let item, let attributes, _):
      self.attributes[item.inode] = attributes
    case .content(let item, let id): contents[item.inode] = Content(id: id, isDirty: false)
    case .dirty(let item, let id): contents[item.inode] = Content(id: id, isDirty: true)
    case .contentDropped(_, let id): contents = contents.filter { $0.value.id != id }
    case .named(let item, let name, let directory):
      names[Name(directory: directory.inode, layer: 0, name: name)] = item.inode
    case .unnamed(let name, let directory): names[Name(directory: directory.inode, layer: 0, name: name)] = nil
    case .hidden(let item, let name, let directory):
      names[Name(directory: directory.inode, layer: 1, name: name)] = item.inode
    case .unhidden(let name, let directory): names[Name(directory: directory.inode, layer: 1, name: name)] = nil
    case .attribute(let item, let name, let value):
      extended.updateValue(value, forKey: Attribute(item: item.inode, name: name))
    case .forgotten(let item):
      attributes[item.inode] = nil
      contents[item.inode] = nil
      extended = extended.filter { $0.key.item != item.inode }
    case .bound, .listed, .trashed, .vanished, .gone, .storeName, .followed: break
    }
  }

  init() {}

  init(_ catalog: Catalog) throws(FSError) {
    self = try catalog.read("read") { connection in
      var model = StateModel()
      var inodes: [Int64: UInt64] = [:]
      try connection.forEach("SELECT \(ItemRow.columns) FROM item") { found in
        let row = try ItemRow(found)
        inodes[row.id] = row.inode
        if let id = row.content { model.contents[row.inode] = Content(id: id, isDirty: row.record.isDirty) }
        if let attributes = row.record.attributes { model.attributes[row.inode] = attributes }
      }
      try connection.forEach("SELECT \(NameRow.columns) FROM name") { found in
        let row = try NameRow(found)
        guard let directory = inodes[row.directory], let item = inodes[row.item] else { throw Damage("dangling") }
        model.names[Name(directory: directory, layer: row.layer.rawValue, name: row.name)] = item
      }
      try connection.forEach("SELECT item, name, value FROM attribute") { found in
        guard let item = inodes[try found.integer(0)] else { throw Damage("dangling") }
        let key = Attribute(item: item, name: try found.bytes(1))
        model.extended.updateValue(try found.optionalBytes(2), forKey: key)
      }
      return model
    }
  }
}
