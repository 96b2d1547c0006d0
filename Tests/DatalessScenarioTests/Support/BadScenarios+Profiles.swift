extension BadScenarios {
  private static func profile(_ text: String, _ message: String, isInSchema: Bool = true) -> Case {
    Case(text: "profile: \(text)\n", message: message, isInSchema: isInSchema)
  }

  private static func present(_ text: String, _ message: String, isInSchema: Bool = true) -> Case {
    Case(text: "present: \(text)\n", message: message, isInSchema: isInSchema)
  }

  /// Profiles and presentations that are not possible.
  static let profiles: [Case] = [
    profile(
      "mac",
      "s.yaml:1:10: unknown profile 'mac'. It is one of macos, open, windows, openvfs."),
    profile(
      "{base: window}",
      "s.yaml:1:17: unknown profile 'window'. Did you mean 'windows'? It is one of macos, open, windows, openvfs."),
    profile(
      "{name: mine}",
      "s.yaml:1:11: unknown field 'name' in a profile. A profile of your own has no name. Remove it."),
    profile(
      "{refused: EPERM}",
      "s.yaml:1:11: unknown field 'refused' in a profile. It is an errno: put it under 'errnos'."),
    profile(
      "{blocks: one}",
      "s.yaml:1:11: unknown field 'blocks' in a profile. It is about metadata: put it under 'present'."),
    profile(
      "{files: open}",
      "s.yaml:1:18: a single value instead of a list of operations. Write [read], and what else triggers."),
    profile(
      "{files: [open]}",
      "s.yaml:1:18: read is missing: a file materializes when it is read, because the volume has nothing else to answer "
        + "with. Write [read], and what else triggers."),
    profile(
      "{directories: []}",
      "s.yaml:1:24: readdir and lookup are missing: a directory materializes when somebody looks into it, because the "
        + "volume has nothing else to answer with. Write [readdir, lookup], and what else triggers."),
    profile(
      "{directories: [readdir, open]}",
      "s.yaml:1:24: lookup is missing: a directory materializes when somebody looks into it, because the volume has "
        + "nothing else to answer with. Write [readdir, lookup], and what else triggers."),
    profile(
      "{files: [read, stat]}",
      "s.yaml:1:25: 'stat' cannot materialize: the kernel keeps attributes and asks a volume for few of them, so it would "
        + "do so by chance. Remove it."),
    profile(
      "{files: [read, write]}",
      "s.yaml:1:25: 'write' always materializes a file, or reads it, and is not named. Remove it."),
    profile(
      "{files: [read, readdir]}",
      "s.yaml:1:25: 'readdir' is an operation on directories. Put it under 'directories'."),
    profile(
      "{directories: [readdir, lookup, seek]}",
      "s.yaml:1:42: 'seek' is an operation on files. Remove it. It is one of readdir, lookup, open, xattr."),
    profile(
      "{files: [read, opne]}",
      "s.yaml:1:25: unknown operation 'opne'. Did you mean 'open'? It is one of read, open, xattr, seek."),
    profile(
      "{errnos: {refused: EPREM}}",
      "s.yaml:1:29: unknown errno 'EPREM'. Did you mean 'EPERM'? Use a Linux errno such as EIO, ETIMEDOUT or ENOSPC."),
    profile(
      "{errnos: {refused: 13}}",
      "s.yaml:1:29: errnos are named, not numbered: '13'. On Linux 13 is EACCES. Use a Linux errno such as EIO, ETIMEDOUT "
        + "or ENOSPC."),
    profile(
      "{errnos: {denied: EPERM}}",
      "s.yaml:1:20: unknown field 'denied' in 'errnos'. There are: refused, offline, timeout, superseded, gone, failed."
    ),
    profile(
      "{resident_changes: drop}",
      "s.yaml:1:29: unknown choice 'drop'. It is one of stale, keep."),
    present(
      "one",
      "s.yaml:1:10: a single value instead of 'present'. Write 'field: value' pairs: blocks, ctime, seek, state, subtype."
    ),
    present(
      "{blocks: none}",
      "s.yaml:1:19: unknown choice 'none'. Did you mean 'one'? It is one of zero, one, real."),
    present(
      "{errnos: {}}",
      "s.yaml:1:11: unknown field 'errnos' in 'present'. It is about what materializes: put it under 'profile'."),
    present(
      "{state: opencloud}",
      "s.yaml:1:18: unknown attribute 'opencloud'. It is one of dataless, openvfs, none."),
    present(
      "{state: {dataless: away}}",
      "s.yaml:1:18: the attribute has no name. Add 'name: user.dataless.state', or what it is to be called."),
    present(
      "{state: {name: trusted.state}}",
      "s.yaml:1:25: 'trusted.state' cannot name the attribute. Start it with 'user.', and use at most 255 printable "
        + "characters."),
    present(
      "{state: {name: user.x, dataless: resident}}",
      "s.yaml:1:18: 'resident' for dataless and resident alike tells nothing. Use two words.", isInSchema: false),
    present(
      "{subtype: 'a b'}",
      "s.yaml:1:20: 'a b' cannot name a subtype. Use 1 to 64 letters, digits, dots, hyphens and underscores."),
    Case(
      text: "blocks: one\n",
      message: "s.yaml:1:1: unknown field 'blocks' in a scenario. It is about metadata: put it under 'present'."),
    Case(
      text: "errnos: {}\n",
      message:
        "s.yaml:1:1: unknown field 'errnos' in a scenario. It is about what materializes: put it under 'profile'."),
  ]
}
