import FoundationEssentials

/// What a volume is made of, what is simulated on it, and what is expected of the programs that use it.
public struct VolumeOptions: Sendable {
  /// What it presents; no file by default.
  public var source: VolumeSource
  /// The path of a scenario file (docs/SCENARIOS.md); what its section `expect` says is expected, too.
  public var scenario: String?
  /// Settings, as in a scenario: `["latency": "200ms", "concurrency": 4]`. They override those of `scenario`.
  public var settings: [String: JSONValue]
  /// Rules, as in a scenario: `[["match": ["path": "*.jpg"], "gate": "photos"]]`. With `scenario` they belong into it.
  public var rules: [JSONValue]
  /// What is expected, held against the whole log at the end.
  public var bounds: [Bound]
  /// Entries as of a scenario's section `expect`: bounds with conditions.
  public var expect: [JSONValue]
  /// Options of `dataless mount` that no scenario has: `["--scratch"]`.
  public var mountOptions: [String]
  /// The executable; else that of the environment's DATALESS, else the one on PATH.
  public var executable: String?

  /// `latency`: the delay before the content of a file, 0 by default. `maxFiles`: how many files may be materialized,
  /// 0 or more; any number by default. With something expected and a latency, `stacks` is `first` unless it is set,
  /// so that a failure has the line. Relative paths begin at the folder of `filePath`.
  public init(
    _ source: VolumeSource = [:], scenario: String? = nil, latency: Duration? = nil, maxFiles: Int? = nil,
    settings: [String: JSONValue] = [:], rules: [JSONValue] = [], expecting bounds: [Bound] = [],
    expect: [JSONValue] = [], mountOptions: [String] = [], executable: String? = nil, filePath: String = #filePath
  ) {
    self.source = source
    if case .folder(let path) = source { self.source = .folder(Self.absolute(path, from: filePath)) }
    self.scenario = scenario.map { Self.absolute($0, from: filePath) }
    self.settings = settings
    self.rules = rules
    self.bounds = bounds + (maxFiles.map { [.maxFiles($0)] } ?? [])
    self.expect = expect
    self.mountOptions = mountOptions
    self.executable = executable
    if let latency { self.settings["latency"] = .string(latency.words) }
    // Who is blocked for no time has no stack, and looking for it in vain takes as long.
    if scenario == nil, self.settings["latency"] != nil, !self.bounds.isEmpty || !expect.isEmpty {
      self.settings["stacks"] = settings["stacks"] ?? "first"
    }
    let keys = ["max_needless", "forbid_unneeded_blocking", "max_together"]
    let isAsked = expect.contains { entry in keys.contains { entry[$0] != nil } }
    if isAsked || self.bounds.contains(where: \.asksForReads) {
      self.settings["observe"] = settings["observe"] ?? "reads"
    }
  }

  private static func absolute(_ path: String, from file: String) -> String {
    if path.hasPrefix("/") { return path }
    return "/" + file.split(separator: "/").dropLast().joined(separator: "/") + "/" + path
  }

  /// The scenario that a volume is mounted with where no file is named; nil if it would say nothing.
  var scenarioText: String? {
    if settings.isEmpty && rules.isEmpty { return nil }
    var whole = settings
    whole["version"] = 1
    if !rules.isEmpty { whole["rules"] = .array(rules) }
    return JSONValue.object(whole).text
  }

  /// `key=value` for `dataless set`: JSON is YAML.
  var assignments: [String] {
    settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.string ?? $0.value.text)" }
  }

  /// Whether a scenario has a section `expect`: `check-log` takes no file without one.
  static func hasExpectations(_ scenario: String) -> Bool {
    scenario.split(separator: "\n").contains { $0.prefixMatch(of: #/expect\s*:/#) != nil }
      || scenario.firstMatch(of: #/[{,]\s*"?expect"?\s*:/#) != nil
  }
}
