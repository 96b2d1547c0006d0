/// Which apps run, by the processes that there are.
struct RunningApps {
  private let processes: [ProcessFacts]
  private let executables: Set<[UInt8]>
  private let commandNames: Set<[UInt8]>
  private let cgroups: Set<[UInt8]>
  /// By area: whether a process of its app runs.
  private var matched: [Int: Bool] = [:]

  init(_ processes: [ProcessFacts]) {
    func parts(_ path: [UInt8]?) -> [[UInt8]] { path?.split(separator: UInt8(ascii: "/")).map(Array.init) ?? [] }
    self.processes = processes
    executables = Set(processes.compactMap { parts($0.executable).last })
    commandNames = Set(processes.compactMap(\.commandName))
    cgroups = Set(processes.flatMap { parts($0.cgroup) })
  }

  /// Whether the app runs whose data lies in a place: a process whose executable, command or cgroup the area names, or
  /// is called as the app is.
  mutating func runs(_ place: Areas.Place, in areas: Areas) -> Bool {
    if let match = areas.area(place).app {
      if let known = matched[place.area] { return known }
      let runs = processes.contains { match.matches($0) }
      matched[place.area] = runs
      return runs
    }
    guard let name = place.app else { return false }
    // The kernel keeps 15 bytes of a command's name.
    return executables.contains(name) || commandNames.contains(Array(name.prefix(15))) || cgroups.contains(name)
  }
}
