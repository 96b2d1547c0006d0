extension BadScenarios {
  /// Settings with values that are not possible.
  static let values: [Case] = [
    Case(
      text: "version: 2\n",
      message: "s.yaml:1:10: version '2' of the format is unknown. This program reads version 1."),
    Case(
      text: "latencey: 1s\n",
      message: "s.yaml:1:1: unknown field 'latencey' in a scenario. Did you mean 'latency'? There are: version, "
        + "seed, latency, directory_latency, bandwidth, transfer_bandwidth, concurrency, quota, reserve, areas, hydration, observe, "
        + "stacks, watchdog, interrupt, give_up_after, offline, materialize, profile, present, access, poll, rules, expect."
    ),
    Case(
      text: "fault: EIO\n",
      message: "s.yaml:1:1: unknown field 'fault' in a scenario. It belongs in a rule: 'rules: [{match: {path: "
        + "\"*\"}, fault: EIO}]'."),
    Case(
      text: "path: '*.jpg'\n",
      message: "s.yaml:1:1: unknown field 'path' in a scenario. It is a condition: put it under 'match' of a rule."),
    Case(
      text: "gates: [a]\n",
      message: "s.yaml:1:1: unknown field 'gates' in a scenario. A gate exists by the rules that name it: write "
        + "'gate: NAME' in a rule."),
    Case(
      text: "latency: 200\n",
      message: "s.yaml:1:10: malformed duration '200': the unit is missing; expected a number and ns, us, ms, s, "
        + "m or h, such as 200ms or 1.5s."),
    Case(
      text: "latency: 5 parsecs\n",
      message: "s.yaml:1:10: malformed duration '5 parsecs': unknown unit 'parsecs'; expected a number and ns, "
        + "us, ms, s, m or h, such as 200ms or 1.5s."),
    Case(
      text: "latency: -1s\n",
      message: "s.yaml:1:10: malformed duration '-1s': a negative value is not possible; expected a number and "
        + "ns, us, ms, s, m or h, such as 200ms or 1.5s."),
    Case(
      text: "latency: [1s, 2s]\n",
      message: "s.yaml:1:10: a list instead of one value; expected a duration such as 200ms, or a mapping such as "
        + "{preset: s3}."),
    Case(
      text: "latency:\n",
      message: "s.yaml:1:9: there is no value; expected a duration such as 200ms, or a mapping such as {preset: "
        + "s3}. To have the default, remove the field."),
    Case(
      text: "latency: 200h 5m\n",
      message: "s.yaml:1:10: malformed duration '200h 5m': unknown unit 'h 5m'; expected a number and ns, us, ms, "
        + "s, m or h, such as 200ms or 1.5s."),
    Case(
      text: "latency: 1000000h\n",
      message: "s.yaml:1:10: '1000000h' is more than a century. For an attempt that never ends use 'fault: never'.",
      isInSchema: false),
    Case(
      text: "latency: s3\n",
      message: "s.yaml:1:10: 's3' is a preset. Write '{preset: s3}'."),
    Case(
      text: "latency: {preset: s4}\n",
      message: "s.yaml:1:19: unknown preset 's4'. Did you mean 's3'? It is one of icloud_small, icloud, onedrive, "
        + "dropbox, s3, mobile, lan."),
    Case(
      text: "latency: {}\n",
      message: "s.yaml:1:10: no distribution in a latency, which has exactly one. Keep one of fixed, uniform, "
        + "normal, log_normal, percentiles, replay, preset; 'fixed: 0' if only floor or per_mebibyte is "
        + "meant."),
    Case(
      text: "latency: {fixed: 1s, uniform: [1s, 2s]}\n",
      message: "s.yaml:1:10: fixed and uniform in a latency, which has exactly one. Keep one of fixed, uniform, "
        + "normal, log_normal, percentiles, replay, preset; 'fixed: 0' if only floor or per_mebibyte is "
        + "meant."),
    Case(
      text: "latency: {floor: 1s}\n",
      message: "s.yaml:1:10: no distribution in a latency, which has exactly one. Keep one of fixed, uniform, "
        + "normal, log_normal, percentiles, replay, preset; 'fixed: 0' if only floor or per_mebibyte is "
        + "meant."),
    Case(
      text: "latency: {fixed: 1s, floor: 3s, ceiling: 2s}\n",
      message: "s.yaml:1:10: the floor is above the ceiling. Make 'floor' at most 'ceiling'.", isInSchema: false),
    Case(
      text: "latency: {uniform: [2s, 1s]}\n",
      message: "s.yaml:1:20: the first duration is the longer one. Put the shorter one first.", isInSchema: false),
    Case(
      text: "latency: {uniform: [2s]}\n",
      message: "s.yaml:1:20: 'uniform' is a list of two durations. Write [100ms, 300ms]."),
    Case(
      text: "latency: {normal: {mean: 1s}}\n",
      message: "s.yaml:1:19: 'normal' needs mean and deviation. Write {mean: 200ms, deviation: 1s}."),
    Case(
      text: "latency: {log_normal: {median: 1s, p99: 500ms}}\n",
      message: "s.yaml:1:23: p99 is below the median. Make it the larger one.", isInSchema: false),
    Case(
      text: "latency: {log_normal: {median: 0, p99: 1s}}\n",
      message: "s.yaml:1:23: the median is 0. Give it at least 1ns.", isInSchema: false),
    Case(
      text: "latency: {log_normal: {median: 1s, p90: 2s}}\n",
      message: "s.yaml:1:36: unknown field 'p90' in 'log_normal'. Did you mean 'p99'? There are: median, p99."),
    Case(
      text: "latency: {p50: 100ms}\n",
      message: "s.yaml:1:11: unknown field 'p50' in a latency. Write 'percentiles: {50: 100ms, 99: 1s}'."),
    Case(
      text: "latency: {min: 100ms, floor: 1s, fixed: 1s}\n",
      message: "s.yaml:1:11: unknown field 'min' in a latency. Write 'uniform: [100ms, 300ms]', or 'floor' and "
        + "'ceiling'."),
    Case(
      text: "latency: {percentiles: {}}\n",
      message: "s.yaml:1:24: 'percentiles' is a mapping of 1 to 1000 percentiles. Write {50: 100ms, 99: 2s}."),
    Case(
      text: "latency: {percentiles: {101: 1s}}\n",
      message: "s.yaml:1:25: '101' is not a percentile. Write a number from 0 to 100."),
    Case(
      text: "latency: {percentiles: {50: 2s, 99: 1s}}\n",
      message: "s.yaml:1:24: the delay at percentile 99.0 is below the one at 50.0. Delays must not fall as "
        + "percentiles rise.", isInSchema: false),
    Case(
      text: "latency: {percentiles: {50: 1s, 50.0: 1s}}\n",
      message: "s.yaml:1:24: percentile 50.0 is given twice. Remove one of them.", isInSchema: false),
    Case(
      text: "latency: {replay: a.jsonl}\n",
      message: "s.yaml:1:19: cannot read the log 'a.jsonl': a scenario that comes from here can name no files "
        + "(EOPNOTSUPP). Give a log that can be read, or the delays as a list of durations.", isInSchema: false),
    Case(
      text: "latency: {replay: []}\n",
      message: "s.yaml:1:19: an empty list. Give at least one duration, or the path of a log."),
    Case(
      text: "bandwidth: 0\n",
      message: "s.yaml:1:12: malformed rate '0': at less than 1 B/s nothing would ever arrive; expected a size "
        + "per second, such as 20MB/s or 512KiB/s."),
    Case(
      text: "bandwidth: 5MB/min\n",
      message: "s.yaml:1:12: malformed rate '5MB/min': unknown period '/min'; expected a size per second, such as "
        + "20MB/s or 512KiB/s."),
    Case(
      text: "bandwidth: null\n",
      message: "s.yaml:1:12: there is no value; expected a rate such as 20MB/s. To have the default, remove the "
        + "field."),
    Case(
      text: "transfer_bandwidth: fast\n",
      message: "s.yaml:1:21: malformed rate 'fast': it does not start with a number; expected a size per second, "
        + "such as 20MB/s or 512KiB/s."),
    Case(
      text: "concurrency: 0\n",
      message: "s.yaml:1:14: '0' is not possible; expected a whole number from 1 to 1000000."),
    Case(
      text: "concurrency: 010\n",
      message: "s.yaml:1:14: '010' is not possible; expected a whole number from 1 to 1000000."),
    Case(
      text: "interrupt: fatl\n",
      message: "s.yaml:1:12: unknown mode 'fatl'. Did you mean 'fatal'? It is one of fatal, any."),
    Case(
      text: "give_up_after: 0\n",
      message: "s.yaml:1:16: after 0 every attempt would fail. Write 'offline: on' for that, or 'none' for no "
        + "limit.", isInSchema: false),
    Case(
      text: "watchdog: {main_thread: 0, action: abort}\n",
      message: "s.yaml:1:25: a watchdog at 0 would act on every wait of a main thread. Write the time that one may "
        + "take, such as 1s, or 'watchdog: off' for none.", isInSchema: false),
    Case(
      text: "offline: maybe\n",
      message: "s.yaml:1:10: 'maybe' is neither on nor off. Write one of them."),
    Case(
      text: "materialize: {}\n",
      message: "s.yaml:1:14: a mapping instead of one value; expected on or off."),
    Case(
      text: "seed: -5\n",
      message: "s.yaml:1:7: '-5' is not possible; expected a whole number from 0 to 18446744073709551615."),
    Case(
      text: "rules: {fault: EIO}\n",
      message: "s.yaml:1:8: a mapping instead of a list. Start each rule with '- ', or write [] for none."),
    Case(
      text: "latencey: 1s\nseed: x\nrules:\n  - fault: EIOO\n  - match: {size: 5..1}\n    gate: a b\n",
      message: "s.yaml:1:1: unknown field 'latencey' in a scenario. Did you mean 'latency'? There are: version, "
        + "seed, latency, directory_latency, bandwidth, transfer_bandwidth, concurrency, quota, reserve, areas, hydration, observe, "
        + "stacks, watchdog, interrupt, give_up_after, offline, materialize, profile, present, access, poll, rules, expect.\ns.yaml:2:7: 'x' is not possible; expected a whole "
        + "number from 0 to 18446744073709551615.\ns.yaml:4:12: unknown errno 'EIOO'. Did you mean 'EIO'? "
        + "Use a Linux errno such as EIO, ETIMEDOUT or ENOSPC, or one of never, wrong_size, "
        + "superseded.\ns.yaml:5:19: no size is in '5..1', so the rule never matches. Put the smaller size "
        + "first.\ns.yaml:6:11: 'a b' cannot name a gate. Use 1 to 64 letters, digits, dots, hyphens and "
        + "underscores."),
  ]
}
