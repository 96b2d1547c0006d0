internal import DatalessCore

/// Latency models: one duration, or a mapping with one distribution.
enum LatencyValues {
  typealias Distribution = LatencyModel.Distribution

  struct Draft: Sendable {
    /// The fields that named a distribution, in the order of the file.
    var chosen: [String] = []
    var model = LatencyModel.none
    var perMebibyte: Nanoseconds?
    var floor: Nanoseconds?
    var ceiling: Nanoseconds?
  }

  static let latency = ScenarioValue<LatencyModel>(
    schema: BasicValues.anyOf([BasicValues.duration.schema, table.schema])
  ) { node, decoder in
    if case .mapping = node.value { return read(node, &decoder) }
    guard let text = decoder.text(node, expected: "a duration such as 200ms, or a mapping such as {preset: s3}") else {
      return nil
    }
    if LatencyPreset.named(text) != nil {
      decoder.fail(node, "'\(text)' is a preset. Write '{preset: \(text)}'.")
      return nil
    }
    return BasicValues.nanoseconds(text, node: node, decoder: &decoder).map { LatencyModel(.fixed($0)) }
  }.named("latency")

  /// As `latency`, with `replay` of the listings of a log.
  static let directoryLatency = ScenarioValue<LatencyModel>(schema: latency.schema) { node, decoder in
    let replayed = decoder.replayed
    decoder.replayed = .materializations(.directory)
    defer { decoder.replayed = replayed }
    return latency.read(node, &decoder)
  }

  private static func read(_ node: ScenarioNode, _ decoder: inout ScenarioDecoder) -> LatencyModel? {
    var draft = Draft()
    guard table.read(node, into: &draft, &decoder) else { return nil }
    guard draft.chosen.count == 1 else {
      let found = draft.chosen.isEmpty ? "no distribution" : draft.chosen.joined(separator: " and ")
      decoder.fail(
        node,
        "\(found) in a latency, which has exactly one. Keep one of \(names.joined(separator: ", ")); "
          + "'fixed: 0' if only floor or per_mebibyte is meant.")
      return nil
    }
    var model = draft.model
    model.perMebibyte = draft.perMebibyte ?? model.perMebibyte
    model.floor = draft.floor ?? model.floor
    model.ceiling = draft.ceiling ?? model.ceiling
    if let floor = model.floor, let ceiling = model.ceiling, floor > ceiling {
      decoder.fail(node, "the floor is above the ceiling. Make 'floor' at most 'ceiling'.")
      return nil
    }
    return model
  }

  private static let names = ["fixed", "uniform", "normal", "log_normal", "percentiles", "replay", "preset"]

  private static func distribution(
    _ name: String, summary: String, value: ScenarioValue<Distribution>
  ) -> ScenarioField<Draft> {
    ScenarioField(name, summary: summary, value: value) { draft, distribution in
      draft.chosen.append(name)
      draft.model = LatencyModel(distribution)
    }
  }

  static let table = ScenarioFields<Draft>(
    what: "a latency",
    fields: [
      distribution("fixed", summary: "The same delay each time.", value: BasicValues.duration.map { .fixed($0) }),
      distribution(
        "uniform", summary: "Two durations: every delay from the first to the second is as likely as any other.",
        value: uniform),
      distribution(
        "normal", summary: "Mean and standard deviation of a normal distribution; delays below 0 become 0.",
        value: normal),
      distribution("log_normal", summary: "Median and 99th percentile of a log-normal distribution.", value: logNormal),
      distribution(
        "percentiles", summary: "Percentiles from 0 to 100 with the delay at each; straight lines between them.",
        value: PercentileValues.percentiles),
      distribution(
        "replay",
        summary: "The delays of a recorded log, one after the other: the path of the log, or the durations themselves.",
        value: ReplayValues.replay),
      ScenarioField(
        "preset", summary: "A latency model by name; docs/SCENARIOS.md has the sources.",
        value: BasicValues.word("preset", LatencyPreset.all.map { ($0.name, $0.model) })
      ) { draft, model in
        draft.chosen.append("preset")
        draft.model = model
      },
      ScenarioField(
        "per_mebibyte", summary: "Added for each MiB of the file. Default 0, or the preset's.",
        value: BasicValues.duration
      ) { $0.perMebibyte = $1 },
      ScenarioField(
        "floor", summary: "What a delay is at least. Default none, or the preset's.", value: BasicValues.duration
      ) {
        $0.floor = $1
      },
      ScenarioField(
        "ceiling", summary: "What a delay is at most. Default none, or the preset's.", value: BasicValues.duration
      ) {
        $0.ceiling = $1
      },
    ],
    constraints: [
      ScenarioNode.Entry(
        key: "oneOf", value: .list(names.map { .object(["required": .list([.text($0)])]) }))
    ],
    elsewhere: [
      (
        ["p0", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "p100"],
        "Write 'percentiles: {50: 100ms, 99: 1s}'."
      ),
      (["mean", "deviation", "stddev"], "Write 'normal: {mean: 200ms, deviation: 50ms}'."),
      (["median"], "Write 'log_normal: {median: 200ms, p99: 1s}'."),
      (["min", "max"], "Write 'uniform: [100ms, 300ms]', or 'floor' and 'ceiling'."),
      (["gate"], "A gate is named by a rule: write 'gate: NAME' there, or 'access: {read: {gate: NAME}}'."),
    ])

  // MARK: - Distributions

  private static let uniform = ScenarioValue<Distribution>(
    schema: .object([
      "type": .text("array"), "items": BasicValues.duration.schema, "minItems": .plain("2"), "maxItems": .plain("2"),
    ])
  ) { node, decoder in
    guard case .sequence(let bounds) = node.value, bounds.count == 2 else {
      decoder.fail(node, "'uniform' is a list of two durations. Write [100ms, 300ms].")
      return nil
    }
    guard let low = BasicValues.duration.read(bounds[0], &decoder),
      let high = BasicValues.duration.read(bounds[1], &decoder)
    else { return nil }
    guard low <= high else {
      decoder.fail(node, "the first duration is the longer one. Put the shorter one first.")
      return nil
    }
    return .uniform(low, high)
  }

  private struct Pair: Sendable {
    var first: Nanoseconds?
    var second: Nanoseconds?
  }

  /// A mapping of two durations, both of which must be there.
  private static func pair(
    _ what: String, first: (name: String, summary: String), second: (name: String, summary: String)
  ) -> ScenarioValue<(Nanoseconds, Nanoseconds)> {
    let fields = ScenarioFields<Pair>(
      what: what,
      fields: [
        ScenarioField(first.name, summary: first.summary, value: BasicValues.duration) { $0.first = $1 },
        ScenarioField(second.name, summary: second.summary, value: BasicValues.duration) { $0.second = $1 },
      ],
      constraints: [
        ScenarioNode.Entry(key: "required", value: .list([.text(first.name), .text(second.name)]))
      ])
    let names = (first.name, second.name)
    return ScenarioValue(schema: fields.schema) { node, decoder in
      var pair = Pair()
      guard fields.read(node, into: &pair, &decoder) else { return nil }
      guard let first = pair.first, let second = pair.second else {
        decoder.fail(node, "\(what) needs \(names.0) and \(names.1). Write {\(names.0): 200ms, \(names.1): 1s}.")
        return nil
      }
      return (first, second)
    }
  }

  private static let normal: ScenarioValue<Distribution> = pair(
    "'normal'", first: ("mean", "The mean."), second: ("deviation", "The standard deviation.")
  ).map { .normal(mean: $0.0, deviation: $0.1) }

  private static let medianAndP99 = pair(
    "'log_normal'", first: ("median", "Half of the delays are shorter; more than 0."),
    second: ("p99", "One delay of a hundred is longer; at least the median."))

  private static let logNormal = ScenarioValue<Distribution>(schema: medianAndP99.schema) { node, decoder in
    guard let (median, p99) = medianAndP99.read(node, &decoder) else { return nil }
    guard median > 0, p99 >= median else {
      decoder.fail(
        node,
        median == 0 ? "the median is 0. Give it at least 1ns." : "p99 is below the median. Make it the larger one.")
      return nil
    }
    return .logNormal(median: median, p99: p99)
  }
}
