import DatalessCore
import DatalessScenario
import SystemPackage
import Testing

/// Profiles and presentations in scenarios.
@Suite struct ScenarioProfileTests {
  private func profile(_ text: String) throws -> Profile {
    try ScenarioText.parse("profile: \(text)").simulation.profile
  }

  private func presentation(_ text: String) throws -> Presentation {
    try ScenarioText.parse("present: \(text)").simulation.presentation
  }

  @Test func profilesAreReadByName() throws {
    #expect(try ScenarioText.parse("{}").simulation.profile == .macos)
    for named in Profile.named { #expect(try profile(named.name) == named) }
    #expect(Profile.named.map(\.name) == ["macos", "open", "windows", "openvfs"])
  }

  @Test func aProfileOfOnesOwnChangesAnotherInParts() throws {
    let own = try profile(
      """
      {base: windows, files: [read, open, xattr, seek], directories: [lookup, readdir, xattr],
        errnos: {refused: EPERM, failed: none}, resident_changes: keep}
      """)
    #expect(own.name == "custom")
    #expect(own.files == [.open, .xattr, .seek])
    #expect(own.directories == [.xattr])
    #expect(own.fileErrnos.refused == .notPermitted && own.directoryErrnos.refused == .notPermitted)
    #expect(own.fileErrnos.offline == Profile.windows.fileErrnos.offline)
    #expect(own.fileErrnos.failed == nil)
    #expect(own.residentChanges == .keep)
    #expect(own.triggerNames(of: .file) == ["read", "open", "xattr", "seek"])
    #expect(own.triggerNames(of: .directory) == ["readdir", "lookup", "xattr"])
  }

  /// A directory that seems empty is what the user has to ask for.
  @Test func onlyTheUserCanMakeADirectoryAnswerENOENT() throws {
    let own = try profile("{base: openvfs, errnos: {offline: ENOENT}}")
    #expect(own.directoryErrnos.offline == .noSuchFileOrDirectory)
    #expect(own.directoryErrnos.timeout == .timedOut)
  }

  @Test func presentationsAreRead() throws {
    #expect(try ScenarioText.parse("{}").simulation.presentation == Presentation())
    let all = try presentation(
      """
      {blocks: one, ctime: bump, seek: hole, subtype: x-1, state: {name: user.state, dataless: away, resident: here,
        partial: some, listed: on}}
      """)
    #expect(all.blocks == .one && all.changeTime == .bump && all.seek == .hole && all.subtype == "x-1")
    #expect(
      all.state
        == StateAttribute(
          name: Array("user.state".utf8), values: .words(dataless: "away", resident: "here", partial: "some"),
          isListed: true))
    #expect(try presentation("{state: none}").state == nil)
    #expect(try presentation("{state: openvfs}").state == .openVFS)
    #expect(try presentation("{state: dataless}").state == .dataless)
  }

  private func json(_ document: ScenarioDocument) -> String {
    String(decoding: document.json(pretty: false), as: UTF8.self)
  }

  @Test func partsOfThePresentationAreSetOneByOne() throws {
    let old = try ScenarioText.parse("present: {blocks: one, seek: hole}\nrules: [{fault: EIO}]\n")
    let new = try old.setting([("present.blocks", "real"), ("present.ctime", "bump"), ("profile", "windows")])
    #expect(new.simulation.presentation.blocks == .real && new.simulation.presentation.changeTime == .bump)
    #expect(new.simulation.presentation.seek == .hole && new.simulation.profile == .windows)
    #expect(
      json(new) == #"{"version":1,"present":{"seek":"hole","blocks":"real","ctime":"bump"},"profile":"windows","#
        + #""rules":[{"name":"rule-1","fault":"EIO"}]}"#)
    #expect(try ScenarioDocument(parsing: new.json(pretty: true), name: "again") == new)
    #expect(new.root.value(at: "present.blocks")?.text == "real")
    // All of it at once: what is left out has its default again.
    #expect(try new.setting([("present", "{seek: hole}")]).simulation.presentation.blocks == .zero)
    let fresh = try ScenarioDocument.empty.setting([("present.state", "openvfs")])
    #expect(json(fresh) == #"{"version":1,"present":{"state":"openvfs"}}"#)
  }

  @Test(arguments: [
    (
      "present.block", "one",
      "present.block=one:1:1: unknown setting 'present.block'. Did you mean 'present.blocks'? There are: present.blocks, "
        + "present.ctime, present.seek, present.state, present.subtype."
    ),
    (
      "present.blocks", "two",
      "present.blocks=two:1:16: unknown choice 'two'. It is one of zero, one, real."
    ),
    (
      "profile", "linux",
      "profile=linux:1:9: unknown profile 'linux'. It is one of macos, open, windows, openvfs."
    ),
  ])
  func wrongSettingsAreRefused(key: String, value: String, message: String) {
    let error = #expect(throws: ScenarioError.self) { try ScenarioDocument.empty.setting([(key, value)]) }
    #expect(error?.description == message)
  }

  @Test func theSubtypeOfAMountStays() throws {
    let document = try ScenarioText.parse("seed: 1\npresent:\n  subtype: other\n")
    try document.checkSubtype(mounted: "other", name: "s.yaml")
    try ScenarioDocument.empty.checkSubtype(mounted: "other", name: "s.yaml")
    let error = #expect(throws: ScenarioError.self) { try document.checkSubtype(mounted: "dataless", name: "s.yaml") }
    #expect(
      error?.description
        == "s.yaml:3:12: the subtype of a mounted volume cannot be changed from 'dataless' to 'other'. "
        + "Unmount it, and mount it with --present subtype=other.")
  }

  @Test func aRuleForATriggerThatTheProfileLacksIsWarnedOf() throws {
    let text = "rules:\n  - {match: {trigger: open}, fault: EIO}\n"
    let document = try ScenarioText.parse(text)
    let warning =
      "s.yaml:2:5: rule 'rule-1' never holds: with the profile 'macos', open does not materialize. Choose another profile, "
      + "or add the operation to a profile of your own."
    #expect(document.warnings.map(\.description) == [warning])
    #expect(try ScenarioText.parse("profile: open\n" + text).warnings.isEmpty)
    #expect(try document.setting([("profile", "open")]).warnings.isEmpty)
    #expect(try ScenarioText.parse("rules:\n  - {match: {trigger: [seek, read]}, fault: EIO}\n").warnings.isEmpty)
    let directories = "profile: open\nrules:\n  - {match: {trigger: open, kind: directory}, fault: EIO}\n"
    #expect(try ScenarioText.parse(directories).warnings.count == 1, "directories are not listed at open")
  }
}
