extension BadScenarios {
  private static func rule(_ text: String, _ message: String, isInSchema: Bool = true) -> Case {
    Case(text: "rules:\n  - \(text)\n", message: message, isInSchema: isInSchema)
  }

  /// Rules that cannot be meant.
  static let rules: [Case] = [
    rule(
      "5",
      "s.yaml:2:5: a single value instead of a rule. Write 'field: value' pairs: name, match, latency, "
        + "bandwidth, hydration, fault, gate, materialize, stack, evict, access."),
    rule(
      "{}",
      "s.yaml:2:5: a rule that does nothing. Give it at least one of latency, bandwidth, hydration, fault, gate, "
        + "materialize, stack, evict, access."),
    rule(
      "match: {path: a}",
      "s.yaml:2:5: a rule that does nothing. Give it at least one of latency, bandwidth, hydration, fault, gate, "
        + "materialize, stack, evict, access."),
    rule(
      "{access: 5ms}",
      "s.yaml:2:14: a single value instead of 'access'. Write 'field: value' pairs: lookup, getattr, open, read, write."
    ),
    rule(
      "{access: {stat: 5ms}}",
      "s.yaml:2:15: unknown field 'stat' in 'access'. Write 'lookup' for the way to the name, and 'getattr' for its attributes."
    ),
    rule(
      "{access: {readdir: 5ms}}",
      "s.yaml:2:15: unknown field 'readdir' in 'access'. A directory is read and opened, too: write 'read' and 'open', in a rule "
        + "with 'kind: directory'."),
    rule(
      "{access: {read: 5}}",
      "s.yaml:2:21: malformed duration '5': the unit is missing; expected a number and ns, us, ms, s, m or h, such as 200ms or 1.5s."
    ),
    rule(
      "{access: {read: {gate: g, fixed: 5ms}}}",
      "s.yaml:2:31: unknown field 'fixed' in what holds an access. There are: gate."),
    rule(
      "{read: 5ms, fault: EIO}",
      "s.yaml:2:6: unknown field 'read' in a rule. It is part of 'access': write 'access: {read: 5ms}'."),
    rule(
      "{match: {trigger: read}, access: {read: 5ms}}",
      "s.yaml:2:5: 'access' delays calls that are no attempts, and names their operations itself. Remove 'trigger', 'attempt' and "
        + "'nth', or give 'access' a rule of its own.", isInSchema: false),
    rule(
      "{match: {nth: {every: 2}}, access: {read: 5ms}}",
      "s.yaml:2:5: 'access' delays calls that are no attempts, and names their operations itself. Remove 'trigger', 'attempt' and "
        + "'nth', or give 'access' a rule of its own.", isInSchema: false),
    rule(
      "{evict: 5s}",
      "s.yaml:2:13: a single value instead of an eviction. Write 'field: value' pairs: idle, "
        + "after_materialization, before_first_read."),
    rule(
      "{evict: {}}",
      "s.yaml:2:13: an eviction that never comes. Give it at least one of idle, "
        + "after_materialization, before_first_read."),
    rule(
      "{evict: {idle: -1s}}",
      "s.yaml:2:20: malformed duration '-1s': a negative value is not possible; expected a number and ns, us, ms, s, m or h, "
        + "such as 200ms or 1.5s."
    ),
    rule(
      "{match: {trigger: read}, evict: {idle: 1s}}",
      "s.yaml:2:5: the system evicts by itself, so there is no trigger and no process. Remove 'trigger', 'process' and "
        + "'ancestor', or give 'evict' a rule of its own.", isInSchema: false),
    rule(
      "{match: {kind: directory}, evict: {idle: 1s}}",
      "s.yaml:2:5: rules evict files only, so this one never does. Remove 'kind', or 'evict'.", isInSchema: false),
    rule(
      "{idle: 1s}",
      "s.yaml:2:6: unknown field 'idle' in a rule. It is part of an eviction: write 'evict: {idle: 500ms}'."),
    rule(
      "{path: a, fault: EIO}",
      "s.yaml:2:6: unknown field 'path' in a rule. It is a condition: put it under 'match'."),
    rule(
      "{match: {path: a, fault: EIO}}",
      "s.yaml:2:23: unknown field 'fault' in 'match'. It is no condition: put it beside 'match'."),
    rule(
      "{match: {}, latencey: 1s}",
      "s.yaml:2:17: unknown field 'latencey' in a rule. Did you mean 'latency'? There are: name, match, "
        + "latency, bandwidth, hydration, fault, gate, materialize, stack, evict, access."),
    rule(
      "{name: \"a b\", fault: EIO}",
      "s.yaml:2:12: 'a b' cannot name a rule. Use 1 to 64 letters, digits, dots, hyphens and underscores."),
    rule(
      "{name: a, fault: EIO}\n  - {name: a, fault: EPERM}",
      "s.yaml:3:12: two rules are named 'a', here and in line 2. Rename one of them.", isInSchema: false),
    rule(
      "{fault: EIOO}",
      "s.yaml:2:13: unknown errno 'EIOO'. Did you mean 'EIO'? Use a Linux errno such as EIO, ETIMEDOUT "
        + "or ENOSPC, or one of never, wrong_size, superseded."),
    rule(
      "{fault: eio}",
      "s.yaml:2:13: unknown errno 'eio'. Did you mean 'EIO'? Use a Linux errno such as EIO, ETIMEDOUT or "
        + "ENOSPC, or one of never, wrong_size, superseded."),
    rule(
      "{fault: 5}",
      "s.yaml:2:13: errnos are named, not numbered: '5'. On Linux 5 is EIO. Use a Linux errno such as "
        + "EIO, ETIMEDOUT or ENOSPC, or one of never, wrong_size, superseded."),
    rule(
      "{fault: nevr}",
      "s.yaml:2:13: unknown errno 'nevr'. Did you mean 'never'? Use a Linux errno such as EIO, ETIMEDOUT "
        + "or ENOSPC, or one of never, wrong_size, superseded."),
    rule(
      "{fault: {after: 5}}",
      "s.yaml:2:13: a fault is either an errno or an outcome. Write 'errno: EIO' or 'outcome: never'."),
    rule(
      "{fault: {errno: EIO, outcome: never}}",
      "s.yaml:2:13: a fault is either an errno or an outcome. Write 'errno: EIO' or 'outcome: never'."),
    rule(
      "{fault: {errno: EIO, after: 101%}}",
      "s.yaml:2:33: '101%' is not a share of a file. Write 0% to 100%."),
    rule(
      "{fault: {errno: EIO, after: 1MB, at_once: true}}",
      "s.yaml:2:13: a fault at once comes before any content. Remove 'at_once' or 'after'.", isInSchema: false),
    rule(
      "{fault: {outcome: wrong_size, after: 1MB}}",
      "s.yaml:2:13: wrong_size and superseded come when all content has arrived. Remove 'after' and "
        + "'at_once', or use 'errno: EIO' or 'errno: ESTALE'.", isInSchema: false),
    rule(
      "{fault: {errno: never}}",
      "s.yaml:2:21: unknown errno 'never'. Use a Linux errno such as EIO, ETIMEDOUT or ENOSPC."),
    rule(
      "{fault: []}",
      "s.yaml:2:13: a list instead of one value; expected an errno such as EIO, or never, wrong_size, "
        + "superseded."),
    rule(
      "{match: {path: ''}, fault: EIO}",
      "s.yaml:2:20: malformed glob '': it is empty. Use \"**\" for every path."),
    rule(
      "{match: {path: []}, fault: EIO}",
      "s.yaml:2:20: an empty list means nothing. Remove the field if everything is meant."),
    rule(
      "{match: {path: 'a/'}, fault: EIO}",
      "s.yaml:2:20: malformed glob 'a/': it ends in a slash. Remove it for the directory itself, or "
        + "append ** for what is in it.", isInSchema: false),
    rule(
      "{match: {path: 'a//b'}, fault: EIO}",
      "s.yaml:2:20: malformed glob 'a//b': two slashes in a row. Remove one.", isInSchema: false),
    rule(
      "{match: {path: '[ab'}, fault: EIO}",
      "s.yaml:2:20: malformed glob '[ab': a '[' is not closed in its component, or a range of it runs "
        + "backwards. Write \\[ for a bracket itself.", isInSchema: false),
    rule(
      "{match: {path: 'a\\'}, fault: EIO}",
      "s.yaml:2:20: malformed glob 'a\\': nothing follows the backslash. Write \\\\ for a backslash "
        + "itself.", isInSchema: false),
    rule(
      "{match: {path: /}, fault: EIO}",
      "s.yaml:2:20: malformed glob '/': nothing follows the slash. Use \"**\" for every path.", isInSchema: false),
    rule(
      "{match: {path: '*.{jpg'}, fault: EIO}",
      "s.yaml:2:20: malformed glob '*.{jpg': a '{' is not closed. Write {a,b} for a or b, and \\{ for a brace itself.",
      isInSchema: false),
    rule(
      "{match: {path: '{jpg}'}, fault: EIO}",
      "s.yaml:2:20: malformed glob '{jpg}': there is only one word in the braces. Write {a,b} for a or b, and \\{ and "
        + "\\} for braces themselves.", isInSchema: false),
    rule(
      "{match: {path: 'a/{b/,c}'}, fault: EIO}",
      "s.yaml:2:20: malformed glob 'a/{b/,c}': of it, 'a/b/': it ends in a slash. Remove it for the directory itself, or "
        + "append ** for what is in it.", isInSchema: false),
    rule(
      "{match: {process: {comm: 'sh,{ab,a-name-that-is-long}'}}, fault: EIO}",
      "s.yaml:2:30: no command is ever named 'sh,a-name-that-is-long': the kernel keeps 15 bytes. Write "
        + "'sh,a-name-that-', or use exe.", isInSchema: false),
    rule(
      "{match: {path: [a, {}]}, fault: EIO}",
      "s.yaml:2:24: a mapping instead of one value; expected a glob such as \"*.jpg\" or \"photos/**\"."),
    rule(
      "{match: {size: big}, fault: EIO}",
      "s.yaml:2:20: malformed size 'big': it does not start with a number; expected a number and a unit, "
        + "such as 4k, 1.5GiB or 20MB."),
    rule(
      "{match: {size: 2k..1k}, fault: EIO}",
      "s.yaml:2:20: no size is in '2k..1k', so the rule never matches. Put the smaller size first.", isInSchema: false),
    rule(
      "{match: {size: ..}, fault: EIO}",
      "s.yaml:2:20: '..' is not possible; expected a size, or a range such as \">1MB\", \"<=4k\" or \"1k..1M\"."),
    rule(
      "{match: {size: '<0'}, fault: EIO}",
      "s.yaml:2:20: no size is in '<0', so the rule never matches. Put the smaller size first.", isInSchema: false),
    rule(
      "{match: {size: 4k, kind: directory}, fault: EIO}",
      "s.yaml:2:13: directories have no size, so the rule never matches. Remove 'size'."),
    rule(
      "{match: {size: 4k, trigger: [readdir, lookup]}, fault: EIO}",
      "s.yaml:2:13: only directories are materialized by readdir, lookup, and they have no size, so the "
        + "rule never matches. Remove 'size'.", isInSchema: false),
    rule(
      "{match: {kind: file, trigger: readdir}, fault: EIO}",
      "s.yaml:2:13: only directories are materialized by readdir, so the rule never matches. Remove "
        + "'kind', or use a trigger such as read.", isInSchema: false),
    rule(
      "{match: {kind: directory, trigger: [read, write]}, fault: EIO}",
      "s.yaml:2:13: only files are materialized by read, write, so the rule never matches. Remove "
        + "'kind', or use readdir or lookup.", isInSchema: false),
    rule(
      "{match: {kind: folder}, fault: EIO}",
      "s.yaml:2:20: unknown kind 'folder'. It is one of file, directory, any."),
    rule(
      "{match: {trigger: raed}, fault: EIO}",
      "s.yaml:2:23: unknown trigger 'raed'. Did you mean 'read'? It is one of read, write, truncate, "
        + "open_truncate, link, copy, open, xattr, seek, readdir, lookup, command, coordinate, eager."),
    rule(
      "{match: {process: {}}, fault: EIO}",
      "s.yaml:2:23: no condition for the process. Give exe, comm, cgroup or uid, or remove the field."),
    rule(
      "{match: {process: {exec: tar}}, fault: EIO}",
      "s.yaml:2:24: unknown field 'exec' in a process. Did you mean 'exe'? There are: exe, comm, cgroup, "
        + "uid."),
    rule(
      "{match: {process: {comm: a-name-that-is-long}}, fault: EIO}",
      "s.yaml:2:30: no command is ever named 'a-name-that-is-long': the kernel keeps 15 bytes. Write "
        + "'a-name-that-is-', or use exe.", isInSchema: false),
    rule(
      "{match: {ancestor: {uid: root}}, fault: EIO}",
      "s.yaml:2:30: 'root' is not possible; expected a user id from 0 to 4294967294."),
    rule(
      "{match: {attempt: 0}, fault: EIO}",
      "s.yaml:2:23: '0' is not possible; expected an attempt from 1, a range such as \"1..3\", {first: "
        + "2} or {every: 3}."),
    rule(
      "{match: {attempt: 3..1}, fault: EIO}",
      "s.yaml:2:23: no attempt is in '3..1', so the rule never matches. Put the smaller number first.",
      isInSchema: false),
    rule(
      "{match: {attempt: {}}, fault: EIO}",
      "s.yaml:2:23: an empty mapping. Write {first: 2} or {every: 3}."),
    rule(
      "{match: {attempt: {first: 2, every: 3}}, fault: EIO}",
      "s.yaml:2:23: none of the first 2 attempts is a multiple of 3, so the rule never matches. Make "
        + "'every' at most 'first'.", isInSchema: false),
    rule(
      "{match: {during: 10s}, fault: EIO}",
      "s.yaml:2:22: '10s' is not possible; expected a range of durations since the start, such as "
        + "\"0s..10s\" or \"1m..\"."),
    rule(
      "{match: {during: 10s..10s}, fault: EIO}",
      "s.yaml:2:22: no time is in '10s..10s', so the rule never matches. Put the earlier time first.", isInSchema: false
    ),
    rule(
      "{match: {probability: 2}, fault: EIO}",
      "s.yaml:2:27: '2' is not possible; expected a number from 0 to 1, or percent, such as 0.05 or 5%."),
    rule(
      "{match: {probability: nan}, fault: EIO}",
      "s.yaml:2:27: 'nan' is not possible; expected a number from 0 to 1, or percent, such as 0.05 or 5%."),
    rule(
      "{gate: 'a/b'}",
      "s.yaml:2:12: 'a/b' cannot name a gate. Use 1 to 64 letters, digits, dots, hyphens and underscores."),
    rule(
      "{bandwidth: none}",
      "s.yaml:2:17: malformed rate 'none': it does not start with a number; expected a size per second, "
        + "such as 20MB/s or 512KiB/s."),
    rule(
      "{materialize: of}",
      "s.yaml:2:19: 'of' is neither on nor off. Write one of them."),
  ]
}
