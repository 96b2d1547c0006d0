internal import DatalessCore

/// A table of percentiles: `{50: 100ms, 99: 2s}`.
enum PercentileValues {
  static let percentiles = ScenarioValue<LatencyModel.Distribution>(
    schema: .object([
      "type": .text("object"), "minProperties": .plain("1"), "maxProperties": .plain("1000"),
      "propertyNames": .object(["pattern": .text(#"^(100(\.0+)?|[0-9]{1,2}(\.[0-9]+)?)$"#)]),
      "additionalProperties": BasicValues.duration.schema,
    ])
  ) { node, decoder in
    guard case .mapping(let entries) = node.value, (1...1000).contains(entries.count) else {
      decoder.fail(node, "'percentiles' is a mapping of 1 to 1000 percentiles. Write {50: 100ms, 99: 2s}.")
      return nil
    }
    var table: [LatencyModel.Percentile] = []
    for entry in entries {
      guard let percent = BasicValues.decimal(entry.key), (0...100).contains(percent) else {
        decoder.fail(
          line: entry.line, column: entry.column,
          "'\(Suggestion.quotable(entry.key))' is not a percentile. Write a number from 0 to 100.")
        return nil
      }
      guard let delay = BasicValues.duration.read(entry.value, &decoder) else { return nil }
      table.append(LatencyModel.Percentile(percent: percent, delay: delay))
    }
    table.sort { $0.percent < $1.percent }
    for (lower, upper) in zip(table, table.dropFirst()) {
      if lower.percent == upper.percent {
        decoder.fail(node, "percentile \(lower.percent) is given twice. Remove one of them.")
        return nil
      }
      if lower.delay > upper.delay {
        decoder.fail(
          node,
          "the delay at percentile \(upper.percent) is below the one at \(lower.percent). Delays must not fall "
            + "as percentiles rise.")
        return nil
      }
    }
    return .table(table)
  }
}
