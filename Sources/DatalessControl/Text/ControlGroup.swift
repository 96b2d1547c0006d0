/// What a process' cgroup says about what started it: a unit of systemd, or a container.
///
/// The path is the kernel's, the names in it are whoever's made them: they are shown escaped, and mean nothing more
/// than themselves. At most 255 bytes each, as the names of directories are.
public struct ControlGroup: Sendable, Equatable {
  /// Such as `backup.service` or `session-3.scope`: the innermost one, which runs the process.
  public let unit: [UInt8]?
  /// Such as `docker:0123456789ab`: what runs it, where that is known, and the beginning of its number or its name.
  public let container: [UInt8]?

  // LIMIT: bytes of a path that are looked at, and of a name.
  private static let pathMax = 4096
  private static let nameMax = 255
  /// As `docker ps` and the like show numbers of containers.
  private static let shownDigits = 12

  /// - Parameter path: As /proc/PID/cgroup has it, such as `/system.slice/backup.service`.
  public init(path: [UInt8]) {
    var (unit, container): ([UInt8]?, [UInt8]?) = (nil, nil)
    var parent: ArraySlice<UInt8> = []
    // The innermost one counts: a container may run systemd, and a unit may run containers.
    for name in path.prefix(Self.pathMax).split(separator: UInt8(ascii: "/")) where name.count <= Self.nameMax {
      if let found = Self.container(name, in: parent) {
        container = found
        unit = nil
      } else if Self.unitSuffixes.contains(where: { name.count > $0.utf8.count && Self.ends(name, with: $0) }) {
        unit = Array(name)
      }
      parent = name
    }
    self.unit = unit
    self.container = container
  }

  private static let unitSuffixes = [".service", ".scope", ".socket", ".mount", ".swap"]

  /// By the names that engines give the scope of a container, and the directory above its number.
  private static let scopes: [(prefix: String, engine: String)] = [
    ("docker-", "docker"), ("libpod-", "podman"), ("cri-containerd-", "containerd"), ("crio-", "crio"),
    ("nerdctl-", "containerd"),
  ]
  private static let directories: [(name: String, engine: String)] = [("docker", "docker"), ("libpod", "podman")]

  private static func container(_ name: ArraySlice<UInt8>, in parent: ArraySlice<UInt8>) -> [UInt8]? {
    let plain = ends(name, with: ".scope") ? name.dropLast(".scope".utf8.count) : name
    if plain.starts(with: "machine-".utf8), plain.count < name.count {
      return Array("machine:".utf8) + plain.dropFirst("machine-".utf8.count)
    }
    if plain.starts(with: "lxc.payload.".utf8), plain.count > "lxc.payload.".utf8.count {
      return Array("lxc:".utf8) + plain.dropFirst("lxc.payload.".utf8.count)
    }
    if parent.elementsEqual("lxc".utf8) { return Array("lxc:".utf8) + name }
    for (prefix, engine) in scopes where plain.starts(with: prefix.utf8) {
      if let number = number(plain.dropFirst(prefix.utf8.count)) { return Array("\(engine):".utf8) + number }
    }
    guard let number = number(plain) else { return nil }
    let engine = directories.first { parent.elementsEqual($0.name.utf8) }?.engine
    return engine.map { Array("\($0):".utf8) + number } ?? number
  }

  /// The beginning of 64 hexadecimal digits; nil for anything else.
  private static func number(_ name: ArraySlice<UInt8>) -> [UInt8]? {
    let isNumber =
      name.count == 64
      && name.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
    return isNumber ? Array(name.prefix(shownDigits)) : nil
  }

  private static func ends(_ name: ArraySlice<UInt8>, with suffix: String) -> Bool {
    name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }
}
