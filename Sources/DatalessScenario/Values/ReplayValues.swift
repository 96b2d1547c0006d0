internal import DatalessCore
internal import SystemPackage

/// The delays of a recorded log, by its path or as they are.
enum ReplayValues {
  static let replay = ScenarioValue<LatencyModel.Distribution>(
    schema: BasicValues.anyOf([
      .object(["type": .text("string"), "minLength": .plain("1")]),
      .object([
        "type": .text("array"), "items": BasicValues.duration.schema, "minItems": .plain("1"),
        "maxItems": .plain("\(ScenarioLimits.replayedDelays)"),
      ]),
    ])
  ) { node, decoder in
    let delays: [Nanoseconds]?
    if case .sequence(let nodes) = node.value {
      delays = listed(nodes, in: node, decoder: &decoder)
    } else {
      delays = recorded(node, &decoder)
    }
    guard let delays else { return nil }
    decoder.replayedDelays += delays.count
    guard decoder.replayedDelays <= ScenarioLimits.replayedDelays else {
      decoder.fail(
        node,
        "more than \(ScenarioLimits.replayedDelays) delays to replay in one scenario. Use 'percentiles', or a "
          + "shorter log.")
      return nil
    }
    return .replay(delays)
  }

  private static func listed(
    _ nodes: [ScenarioNode], in node: ScenarioNode, decoder: inout ScenarioDecoder
  ) -> [Nanoseconds]? {
    if nodes.isEmpty { decoder.fail(node, "an empty list. Give at least one duration, or the path of a log.") }
    var delays: [Nanoseconds] = []
    for node in nodes {
      if let delay = BasicValues.duration.read(node, &decoder) { delays.append(delay) }
    }
    return nodes.isEmpty || delays.count < nodes.count ? nil : delays
  }

  private static func recorded(_ node: ScenarioNode, _ decoder: inout ScenarioDecoder) -> [Nanoseconds]? {
    guard let path = decoder.text(node, expected: "the path of a log, or a list of durations") else { return nil }
    let shown = Suggestion.quotable(path)
    let log: [UInt8]
    do throws(FSError) {
      log = try decoder.readFile(path)
    } catch {
      decoder.fail(
        node,
        "cannot read the log '\(shown)': \(error.message) (\(error.errno.name)). Give a log that can be read, or "
          + "the delays as a list of durations.")
      return nil
    }
    let delays = delays(in: log, of: decoder.replayed)
    if delays.isEmpty {
      let missing =
        switch decoder.replayed {
        case .materializations(let kind): "finished materialization of a \(kind.rawValue)"
        case .accesses(let operation): "finished access by '\(operation.rawValue)'"
        }
      decoder.fail(
        node,
        "there is no \(missing) in '\(shown)'. Give a log that 'dataless log --json' or a volume has written.")
      return nil
    }
    let place = ScenarioDecoder.Place(line: node.line, column: node.column)
    decoder.replacements[place] = .list(delays.map { .text("\($0.rawValue)ns") })
    return delays
  }

  /// `delay_ns` of the `materialization.finished` records of a kind, but of those that were given up; or `blocked_ns`
  /// of the `access.finished` records of an operation that were answered.
  ///
  /// By their bytes: in JSON the quotes of a key can stand in no text, as they would be escaped there.
  static func delays(in log: [UInt8], of replayed: ScenarioDecoder.Replayed) -> [Nanoseconds] {
    var delays: [Nanoseconds] = []
    log.withUnsafeBufferPointer { bytes in
      for line in bytes.split(separator: UInt8(ascii: "\n")) {
        guard let delay = delay(in: line, of: replayed), (0...BasicValues.longestDuration).contains(delay) else {
          continue
        }
        delays.append(delay)
      }
    }
    return delays
  }

  private static func delay(
    in line: Slice<UnsafeBufferPointer<UInt8>>, of replayed: ScenarioDecoder.Replayed
  ) -> Nanoseconds? {
    switch replayed {
    case .materializations(let kind):
      guard value("type", line) == EventType.materializationFinished.rawValue, value("kind", line) == kind.rawValue,
        value("outcome", line) != "cancelled"
      else { return nil }
      return value("delay_ns", line).flatMap { Int64($0) }.map { Nanoseconds($0) }
    case .accesses(let operation):
      guard value("type", line) == EventType.accessFinished.rawValue,
        value("operation", line) == operation.rawValue, value("outcome", line) == "ok"
      else { return nil }
      return value("blocked_ns", line).flatMap { Int64($0) }.map { Nanoseconds($0) }
    }
  }

  /// The first value of a key in a line of JSON, if it is a number or a text without escapes.
  private static func value(_ key: String, _ line: Slice<UnsafeBufferPointer<UInt8>>) -> String? {
    let wanted = Array("\"\(key)\"".utf8)
    var index = line.startIndex
    while index + wanted.count < line.endIndex {
      guard line[index] == wanted[0], line[index..<index + wanted.count].elementsEqual(wanted) else {
        index += 1
        continue
      }
      var rest = line[(index + wanted.count)...].drop { $0 == UInt8(ascii: " ") }
      guard rest.first == UInt8(ascii: ":") else {
        index += wanted.count
        continue
      }
      rest = rest.dropFirst().drop { $0 == UInt8(ascii: " ") }
      if rest.first == UInt8(ascii: "\"") { rest = rest.dropFirst() }
      let word = rest.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "}") }
      return String(decoding: word, as: UTF8.self)
    }
    return nil
  }
}
