internal import DatalessCore

/// `watchdog`: a word, or a mapping.
enum WatchdogValues {
  private struct Draft: Sendable {
    var mainThread: Nanoseconds?
    var action = WatchdogPolicy.Action.report
    var apps: [ProcessMatch] = []
  }

  private static let table = ScenarioFields<Draft>(
    what: "a watchdog",
    fields: [
      ScenarioField(
        "main_thread", summary: "How long a main thread may wait; more than 0.", value: limit
      ) { $0.mainThread = $1 },
      ScenarioField(
        "action",
        summary: "log (the log says so while the thread waits), report (and has its stack) or abort (then SIGABRT). "
          + "Default report.",
        value: BasicValues.word("action", WatchdogPolicy.Action.allCases.map { ($0.rawValue, $0) })
      ) { $0.action = $1 },
      ScenarioField(
        "apps",
        summary:
          "The processes that count, as 'process' of a rule: one, or a list of which one must match. Default: all; on a "
          + "mounted volume none of them is aborted then.",
        value: BasicValues.oneOrMore(PathValues.process)
      ) { $0.apps = $1 },
    ],
    constraints: [ScenarioNode.Entry(key: "required", value: .list([.text("main_thread")]))])

  private static let limit = ScenarioValue<Nanoseconds>(schema: BasicValues.duration.schema) { node, decoder in
    guard let value = BasicValues.duration.read(node, &decoder) else { return nil }
    if value > 0 { return value }
    decoder.fail(
      node,
      "a watchdog at 0 would act on every wait of a main thread. Write the time that one may take, such as 1s, "
        + "or 'watchdog: off' for none.")
    return nil
  }

  private static let mapping = ScenarioValue<WatchdogPolicy?>(schema: table.schema) { node, decoder in
    var draft = Draft()
    guard table.read(node, into: &draft, &decoder) else { return nil }
    guard let limit = draft.mainThread else {
      if node["main_thread"] == nil {
        decoder.fail(node, "a watchdog without a limit. Give it 'main_thread', such as 'main_thread: 1s'.")
      }
      return nil
    }
    return .some(WatchdogPolicy(mainThread: limit, action: draft.action, apps: draft.apps))
  }

  static let watchdog = ScenarioValue<WatchdogPolicy?>(
    schema: BasicValues.anyOf([
      BasicValues.pattern(
        #"off|((log|report|abort)=)?(?=[^1-9]*[1-9])\#(BasicValues.number) *\#(BasicValues.durationUnit)"#),
      mapping.schema,
    ])
  ) { node, decoder in
    if case .mapping = node.value { return mapping.read(node, &decoder) }
    guard let text = decoder.text(node, expected: WatchdogPolicy.expected + ", or a mapping") else { return nil }
    do throws(FSError) {
      return .some(try WatchdogPolicy.parse(text))
    } catch {
      decoder.fail(node, "\(Suggestion.quotable(error.message)).")
      return nil
    }
  }
}
