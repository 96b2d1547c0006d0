/// A directory, or several of the same kind, with what is below: what its data is for.
public struct Area: Sendable, Equatable {
  /// One component of the path of an area.
  public enum Component: Sendable, Hashable {
    case name([UInt8])
    /// Any name: each directory that has one is an area of an app of its own, which is called by it.
    case any
  }

  /// What people know it by; unique.
  public var name: String
  /// From the volume's root; none: all of the volume.
  public var path: [Component]
  public var category: AreaCategory
  public var isBackedUp: Bool
  public var isPurged: Bool
  public var isCounted: Bool
  /// The processes of its app. nil: those whose executable, command or cgroup is called as the app is, where the path
  /// has an `any`; else it has no app.
  public var app: ProcessMatch?

  public init(
    name: String, path: [Component], category: AreaCategory, isBackedUp: Bool? = nil, isPurged: Bool? = nil,
    isCounted: Bool? = nil, app: ProcessMatch? = nil
  ) {
    self.name = name
    self.path = path
    self.category = category
    self.isBackedUp = isBackedUp ?? category.isBackedUp
    self.isPurged = isPurged ?? category.isPurged
    self.isCounted = isCounted ?? category.isCounted
    self.app = app
  }

  /// Components of a path as people write it: `*` is any name; slashes at its ends say nothing.
  public static func components(of path: some Sequence<UInt8>) -> [Component] {
    Array(path).split(separator: UInt8(ascii: "/")).map { $0 == [UInt8(ascii: "*")] ? .any : .name(Array($0)) }
  }

  /// The path as people write it: `Containers/*/tmp`; `/` for the root.
  public var pathText: String {
    let texts = path.map { component in
      switch component {
      case .name(let name): String(decoding: name, as: UTF8.self)
      case .any: "*"
      }
    }
    return texts.isEmpty ? "/" : texts.joined(separator: "/")
  }

  /// The directories of one app's data as iOS has them, below a container.
  public static func ios(in container: [Component], app: ProcessMatch? = nil) -> [Area] {
    let directories: [(path: String, category: AreaCategory)] = [
      ("Documents", .documents), ("Library", .support), ("Library/Application Support", .support),
      ("Library/Preferences", .support), ("Library/Caches", .caches), ("tmp", .temporary),
    ]
    return directories.map { directory in
      var area = Area(
        name: "", path: container + components(of: directory.path.utf8), category: directory.category, app: app)
      area.name = area.pathText
      return area
    }
  }
}
