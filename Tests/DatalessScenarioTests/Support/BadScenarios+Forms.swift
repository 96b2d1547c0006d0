extension BadScenarios {
  /// What is no YAML, or YAML that a scenario does not need.
  static let forms: [Case] = [
    Case(
      text: "",
      message: "s.yaml:1:1: there is nothing in it. A scenario that changes nothing is 'version: 1'."),
    Case(
      text: "# nothing\n",
      message: "s.yaml:1:1: there is nothing in it. A scenario that changes nothing is 'version: 1'."),
    Case(
      text: "latency: 1s\n\tbandwidth: 5MB\n",
      message: "s.yaml:2:1: not YAML: found a tab character that violates indentation while scanning a plain "
        + "scalar that starts in line 1. Indent with spaces: YAML allows no tabs there."),
    Case(
      text: "latency: \"1s\nseed: 1\n",
      message: "s.yaml:3:1: not YAML: found unexpected end of stream while scanning a quoted scalar that starts "
        + "in line 1. Look at the indentation and the quotes here and in the line before; globs belong in "
        + "quotes."),
    Case(
      text: "rules:\n  - match: {path: *.jpg}\n    fault: EIO\n",
      message: "s.yaml:2:20: not YAML: did not find expected alphabetic or numeric character while scanning an "
        + "alias. Put a text that starts with '*' in quotes."),
    Case(
      text: "rules: [{fault: EIO}",
      message: "s.yaml:2:1: not YAML: did not find expected ',' or ']' while parsing a flow sequence that starts "
        + "in line 1. Look at the indentation and the quotes here and in the line before; globs belong in "
        + "quotes."),
    Case(
      text: "latency: 1s\n---\nlatency: 2s\n",
      message: "s.yaml:2:1: a second document. A scenario is one document: remove the line '---' and what follows."),
    Case(
      text: "latency: 1s\nseed: 3\nlatency: 2s\n",
      message: "s.yaml:3:1: 'latency' is given twice, here and in line 1. Remove one of them."),
    Case(
      text: "latency: &a 1s\ndirectory_latency: *a\n",
      message: "s.yaml:1:10: an anchor ('&...'). Write the value out wherever it is needed.\ns.yaml:2:20: an "
        + "alias ('*...'). Write the value out; a glob that starts with '*' needs quotes."),
    Case(
      text: "latency: !!str 1s\n",
      message: "s.yaml:1:10: a tag ('!...'). Write the value without it."),
    Case(
      text: "? [a, b]\n: 1\n",
      message: "s.yaml:1:3: a list, mapping or alias as the name of a field. Put a word in front of the colon."),
    Case(
      text: "- latency: 1s\n",
      message: "s.yaml:1:1: a list instead of a scenario. Write 'field: value' pairs: version, seed, latency, "
        + "directory_latency, bandwidth, transfer_bandwidth, concurrency, quota, reserve, areas, hydration, observe, stacks, watchdog, interrupt, give_up_after, "
        + "offline, materialize, profile, present, access, poll, rules, expect."),
    Case(
      text: "200ms",
      message: "s.yaml:1:1: a single value instead of a scenario. Write 'field: value' pairs: version, seed, "
        + "latency, directory_latency, bandwidth, transfer_bandwidth, concurrency, quota, reserve, areas, hydration, observe, stacks, watchdog, interrupt, give_up_after, "
        + "offline, materialize, profile, present, access, poll, rules, expect."),
    Case(
      text: "{\"latency\": }",
      message: "s.yaml:1:13: there is no value; expected a duration such as 200ms, or a mapping such as {preset: "
        + "s3}. To have the default, remove the field."),
  ]
}
