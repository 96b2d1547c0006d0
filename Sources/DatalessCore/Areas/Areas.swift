/// The areas of a volume: which one a path lies in is decided by the longest path of an area that begins it, a name
/// before any name.
///
/// A value: what is moved on the volume lies in another area from then on, because it is asked by its present path.
public struct Areas: Sendable, Equatable {
  /// Where an item lies.
  public struct Place: Sendable, Hashable {
    /// Of `Areas.list`.
    public var area: Int
    /// What its app is called, where the area's path has any name.
    public var app: [UInt8]?
  }

  /// A directory on the way to areas: what its names lead to.
  private struct Step: Sendable, Equatable {
    var names: [[UInt8]: Int] = [:]
    var any: Int?
    var area: Int?
  }

  /// A step that was reached, and the first name that stood for `any`.
  fileprivate struct Reached: Sendable, Equatable {
    var step: Int
    var app: [UInt8]?
  }

  /// How far a path has come: the areas that it may still enter, and the one that it lies in.
  public struct Position: Sendable, Equatable {
    fileprivate var reached: [Reached] = []
    /// nil: in no area.
    public fileprivate(set) var place: Place?

    /// Whether nothing below lies in another area.
    public var isFinal: Bool { reached.isEmpty }
  }

  public let list: [Area]
  private var steps: [Step] = []

  public static let none = Areas([])

  /// - Parameter areas: Of several with one path the first counts.
  public init(_ areas: [Area]) {
    list = areas
    guard !areas.isEmpty else { return }
    steps = [Step()]
    for (index, area) in areas.enumerated() {
      var step = 0
      for component in area.path { step = enter(component, from: step) }
      if steps[step].area == nil { steps[step].area = index }
    }
  }

  private mutating func enter(_ component: Area.Component, from step: Int) -> Int {
    let known: Int?
    switch component {
    case .name(let name): known = steps[step].names[name]
    case .any: known = steps[step].any
    }
    if let known { return known }
    let new = steps.count
    steps.append(Step())
    switch component {
    case .name(let name): steps[step].names[name] = new
    case .any: steps[step].any = new
    }
    return new
  }

  public var isEmpty: Bool { list.isEmpty }

  /// Where every path begins.
  public var root: Position {
    guard let first = steps.first else { return Position() }
    return Position(
      reached: [Reached(step: 0)], place: first.area.map { Place(area: $0, app: nil) })
  }

  /// Where a name leads to.
  public func enter(_ name: some Collection<UInt8>, from position: Position) -> Position {
    guard !position.reached.isEmpty else { return position }
    let name = Array(name)
    var next = Position(place: position.place)
    // A name before any name.
    for reached in position.reached {
      if let step = steps[reached.step].names[name] { next.reached.append(Reached(step: step, app: reached.app)) }
    }
    for reached in position.reached {
      if let step = steps[reached.step].any {
        next.reached.append(Reached(step: step, app: reached.app ?? name))
      }
    }
    for reached in next.reached {
      guard let area = steps[reached.step].area else { continue }
      next.place = Place(area: area, app: reached.app)
      break
    }
    next.reached.removeAll { steps[$0.step].names.isEmpty && steps[$0.step].any == nil }
    return next
  }

  /// Where a path lies; nil: in no area.
  public func place(of path: some Collection<UInt8>) -> Place? {
    guard !isEmpty else { return nil }
    var position = root
    for name in path.split(separator: UInt8(ascii: "/")) {
      if position.isFinal { break }
      position = enter(name, from: position)
    }
    return position.place
  }

  /// The area of a place.
  public func area(_ place: Place) -> Area { list[place.area] }

  // MARK: - Apps

  /// Whose data an area has: told apart by its name, where its path has any name, else by its processes.
  public enum App: Sendable, Hashable {
    case named([UInt8])
    /// The first area that names the same processes; of an area without an app, itself.
    case area(Int)
  }

  /// Whose data lies in a place: an app's, or nobody's but the area's.
  public func owner(of place: Place) -> App {
    if let name = place.app { return .named(name) }
    guard let match = list[place.area].app else { return .area(place.area) }
    return .area(list.firstIndex { $0.app == match } ?? place.area)
  }

  /// What the app of a place is called; nil: it has none, or one that is known by its processes alone.
  public func appName(of place: Place) -> [UInt8]? { place.app }
}
