/// What the rules say about one trigger; each part with the rule that said it.
public struct Decision: Sendable {
  public struct Part<Value: Sendable>: Sendable {
    public var value: Value
    public var rule: String
    /// The rule's place in the scenario, from 0.
    public var place: Int
  }

  public var latency: Part<LatencyModel>?
  public var transferBandwidth: Part<Int64>?
  public var hydration: Part<Hydration>?
  public var fault: Part<Fault>?
  public var gate: Part<String>?
  public var materialize: Part<Bool>?
  public var stack: Part<Bool>?

  /// The places of the rules that hold, rising; and of those that hold for each so manieth attempt only (`nth`): which
  /// one this is, is known when it starts.
  var matched: [Int] = []
  var counting: [Int] = []

  public init() {}

  /// Adopts what a rule says about parts of which no rule before it says anything.
  mutating func adopt(_ rule: Rule, at place: Int) {
    func part<Value>(_ old: Part<Value>?, _ value: Value?) -> Part<Value>? {
      guard let value, old.map({ place < $0.place }) ?? true else { return old }
      return Part(value: value, rule: rule.name, place: place)
    }
    latency = part(latency, rule.effects.latency)
    transferBandwidth = part(transferBandwidth, rule.effects.transferBandwidth)
    hydration = part(hydration, rule.effects.hydration)
    fault = part(fault, rule.effects.fault)
    gate = part(gate, rule.effects.gate)
    materialize = part(materialize, rule.effects.materialize)
    stack = part(stack, rule.effects.stack)
  }

  /// The names of the rules that decided something, each once, in their order.
  public var rules: [String] { deciding.map(\.name) }

  /// The rules that decided something, each once, in their order.
  var deciding: [(place: Int, name: String)] {
    var named: [(place: Int, name: String)] = []
    func add(_ place: Int?, _ name: String?) {
      guard let place, let name, !named.contains(where: { $0.place == place }) else { return }
      named.append((place, name))
    }
    add(latency?.place, latency?.rule)
    add(transferBandwidth?.place, transferBandwidth?.rule)
    add(hydration?.place, hydration?.rule)
    add(fault?.place, fault?.rule)
    add(gate?.place, gate?.rule)
    add(materialize?.place, materialize?.rule)
    add(stack?.place, stack?.rule)
    return named.sorted { $0.place < $1.place }
  }
}
