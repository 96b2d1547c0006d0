import FoundationEssentials
import Glibc
import Testing

/// `dataless check` and `dataless export`, on state directories that are sound, damaged, in use or prepared by
/// somebody. Nothing is mounted here.
@Suite struct StateCommands {
  private static func withState(_ test: (_ state: String, _ root: String) async throws -> Void) async throws {
    try await withScratch { scratch in
      let state = scratch.root + "/state"
      try KeptState.make(at: state)
      try await test(state, scratch.root)
    }
  }

  private static func bytes(_ path: String) -> [UInt8]? {
    (try? Data(contentsOf: URL(filePath: path))).map { Array($0) }
  }

  private static func text(_ path: String) -> String? {
    bytes(path).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func dataless(_ arguments: String...) async throws -> Finished {
    try await run([Machine.dataless] + arguments, timeLimit: .seconds(30))
  }

  @Test func aSoundDirectoryIsSound() async throws {
    try await Self.withState { state, _ in
      for arguments in [["check", state, "--dry-run"], ["check", state], ["check", state, "--dry-run"]] {
        let output = try await JSONLines.run(arguments + ["--json"])
        let answer = try #require(output.answer)
        #expect(output.finished.status == 0 && answer["finding_count"]?.int == 0 && answer["contents"]?.int == 2)
        #expect(answer["dry_run"]?.bool == arguments.contains("--dry-run"))
        #expect(try JSONSchemas().problems("check", output.finished) == [])
      }
      let finished = try await Self.dataless("check", state)
      #expect(finished.status == 0 && finished.text.hasSuffix(": nothing is wrong\n"), "\(finished.text)")
    }
  }

  @Test func damageIsSaidAndMended() async throws {
    try await Self.withState { state, root in
      let catalog = state + "/catalog.sqlite"
      var bytes = try #require(Self.bytes(catalog))
      // The header of the first page after the schema's.
      for index in 4096..<4104 { bytes[index] ^= 0xff }
      try Data(bytes).write(to: URL(filePath: catalog))
      let dry = try await JSONLines.run(["check", state, "--dry-run", "--json"])
      #expect(dry.finished.status == 1 && dry.error?["code"]?.string == "damaged")
      #expect(Self.bytes(catalog) == bytes)
      #expect(try JSONSchemas().problems("check", dry.finished) == [])
      let mended = try await Self.dataless("check", state)
      #expect(mended.status == 1 && mended.errorText.contains("was damaged"), "\(mended.errorText)")
      #expect(try await Self.dataless("check", state).status == 0)
      let exported = try await Self.dataless("export", state, root + "/target")
      #expect(exported.status == 0, "\(exported.errorText)")
      let found = try await run(["sh", "-c", "find '\(root)/target' -type f -exec cat {} + | sort"])
      #expect(found.text.contains(KeptState.made) && found.text.contains(KeptState.changed), "\(found.text)")
    }
  }

  @Test func whatWasWrittenIsExported() async throws {
    try await Self.withState { state, root in
      let target = root + "/new/target"
      let output = try await JSONLines.run(["export", state, target, "--json"])
      let answer = try #require(output.answer)
      #expect(output.finished.status == 0 && answer["files"]?.int == 2 && answer["target"]?.string == target)
      #expect(try JSONSchemas().problems("export", output.finished) == [])
      #expect(Self.text(target + "/made/file") == KeptState.made && Self.text(target + "/changed") == KeptState.changed)
      // Again: what is there stays.
      let again = try await JSONLines.run(["export", state, target, "--json"])
      #expect(try JSONSchemas().problems("export", again.finished) == [])
      #expect(again.finished.status == 1 && again.error?["code"]?.string == "incomplete")
      #expect(again.answer?["failure_count"]?.int == 2)
      #expect(again.answer?["failures"]?.array.compactMap { $0["errno"]?.string } == ["EEXIST", "EEXIST"])
      let finished = try await Self.dataless("export", state, target)
      #expect(finished.errorText.contains("\(target)/changed: something is there"), "\(finished.errorText)")
    }
  }

  @Test func aDirectoryInUseIsLeftAlone() async throws {
    try await Self.withState { state, root in
      let lock = open(state + "/lock", O_RDWR | O_CLOEXEC)
      defer { close(lock) }
      #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
      for arguments in [["check", state], ["check", state, "--dry-run"], ["export", state, root + "/target"]] {
        let output = try await JSONLines.run(arguments + ["--json"])
        #expect(output.finished.status == 1 && output.error?["errno"]?.string == "EBUSY", "\(arguments)")
        #expect(output.error?["message"]?.string?.contains("Unmount its volume first") == true)
      }
    }
  }

  @Test(arguments: ["echo > $S/dataless-state", "rm $S/dataless-state", "rm $S/catalog.sqlite"])
  func whatIsMissingIsMadeAnew(script: String) async throws {
    try await Self.withState { state, root in
      #expect(try await run(["sh", "-c", "S='\(state)'; \(script)"]).succeeded)
      let dry = try await JSONLines.run(["check", state, "--dry-run", "--json"])
      #expect(dry.finished.status == 1 && dry.error?["code"]?.string == "damaged", "\(dry.finished.text)")
      #expect(try JSONSchemas().problems("check", dry.finished) == [])
      let mended = try await Self.dataless("check", state)
      #expect(mended.status == 1 && mended.errorText.contains("was damaged"), "\(mended.errorText)")
      #expect(try await Self.dataless("check", state).status == 0)
      #expect(try await Self.dataless("export", state, root + "/target").status == 0)
      let found = try await run(["sh", "-c", "find '\(root)/target' -type f -exec cat {} + | sort"])
      #expect(found.text.contains(KeptState.made) && found.text.contains(KeptState.changed), "\(found.text)")
    }
  }

  @Test func whatIsOpenToOthersOrReadOnlyIsToldWithARemedy() async throws {
    try await Self.withState { state, _ in
      chmod(state, 0o777)
      let open = try await Self.dataless("check", state)
      #expect(open.status == 1 && open.errorText.contains("Make it yours alone (chmod go-w)."), "\(open.errorText)")
      chmod(state, 0o700)
      guard Machine.isRoot else { return }
      let script = #"mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"; "$1" check "$0"; "$1" check --dry-run "$0""#
      let readOnly = try await run(["unshare", "-m", "sh", "-c", script, state, Machine.dataless])
      #expect(readOnly.succeeded, "\(readOnly.errorText)")
      #expect(readOnly.errorText.contains("Use --dry-run, which writes nothing."), "\(readOnly.errorText)")
    }
  }

  /// What somebody may have put in the place of a state directory, and in one.
  @Test(arguments: [
    "rm -r $S; mkfifo $S", "rm -r $S; touch $S", "rm -r $S; mkdir $S", "chmod 777 $S", "chmod 644 $S/catalog.sqlite",
    "rm $S/catalog.sqlite; mkfifo $S/catalog.sqlite", "mv $S/catalog.sqlite $S/c; ln -s c $S/catalog.sqlite",
    "ln $S/catalog.sqlite $S/c", "rm $S/lock; mkfifo $S/lock",
    "rm $S/dataless-state; ln -s /etc/passwd $S/dataless-state",
    "printf 'dataless state directory\\nformat 2\\n' > $S/dataless-state",
    "echo > $S/dataless-state; rm $S/catalog.sqlite $S/session", "rm $S/dataless-state $S/catalog.sqlite",
    "rm -r $S/content; ln -s /tmp $S/content", "rm -r $S/content; mkfifo $S/content",
    "mkfifo $S/catalog.sqlite-wal",
  ])
  func whatSomebodyPreparedIsRefused(script: String) async throws {
    try await Self.withState { state, root in
      let prepared = try await run(["sh", "-c", "S='\(state)'; \(script)"])
      #expect(prepared.succeeded)
      for arguments in [["check", state], ["check", state, "--dry-run"], ["export", state, root + "/target"]] {
        let output = try await JSONLines.run(arguments + ["--json"])
        #expect(output.finished.status == 1 && output.answers.isEmpty, "\(arguments): \(output.finished.text)")
        #expect(output.error?["code"]?.string == "failed" && output.error?["errno"] != nil, "\(output.finished.text)")
      }
    }
  }

  /// What lies in the way below the target, and targets that are none.
  @Test func targetsThatOthersCanChangeAreRefused() async throws {
    try await Self.withState { state, root in
      for script in [
        "mkdir $T; chmod 777 $T", "mkfifo $T", "touch $T", "mkdir $T; chown 12345 $T",
      ] where Machine.isRoot || !script.contains("chown") {
        _ = try await run(["sh", "-c", "T='\(root)/target'; rm -rf $T; \(script)"])
        let output = try await JSONLines.run(["export", state, root + "/target", "--json"])
        #expect(output.finished.status == 1 && output.answers.isEmpty, "\(script): \(output.finished.text)")
      }
      for inside in [state, state + "/content", state + "/new"] {
        let output = try await JSONLines.run(["export", state, inside, "--json"])
        #expect(output.finished.status == 2 && output.error?["code"]?.string == "usage")
      }
      #expect(try await Self.dataless("check", state).status == 0)
    }
  }

  /// A link of the user's own, with and without a slash behind it, and one that leads nowhere yet.
  @Test func aTargetThatIsALinkIsNotFollowed() async throws {
    try await Self.withState { state, root in
      let outside = root + "/outside"
      mkdir(outside, 0o700)
      symlink(outside, root + "/link")
      symlink(root + "/nowhere", root + "/dangling")
      for target in ["/link", "/link/", "/dangling"] {
        let output = try await JSONLines.run(["export", state, root + target, "--json"])
        #expect(output.finished.status == 1 && output.error?["errno"]?.string == "ELOOP", "\(output.finished.text)")
        #expect(output.error?["message"]?.string?.contains("Name the directory itself") == true)
      }
      let found = try await run(["find", outside, root + "/nowhere", "-mindepth", "1"])
      #expect(found.text.isEmpty, "\(found.text)")
      // What lies above TARGET may be a link of the user's.
      #expect(try await Self.dataless("export", state, root + "/link/below").status == 0)
      #expect(Self.text(outside + "/below/changed") == KeptState.changed)
    }
  }

  @Test func whatLiesInTheWayIsLeftAlone() async throws {
    try await Self.withState { state, root in
      let outside = root + "/outside"
      mkdir(outside, 0o700)
      for script in [
        "ln -s $O $T/made; ln -s $O/x $T/changed", "mkfifo $T/made $T/changed",
        "mkdir -m 777 $T/made; mkdir $T/changed",
        "mkdir $T/made; ln -s $O/x $T/made/file; mkfifo $T/changed",
      ] {
        _ = try await run(["sh", "-c", "T='\(root)/target'; O='\(outside)'; rm -rf $T; mkdir $T; \(script)"])
        let output = try await JSONLines.run(["export", state, root + "/target", "--json"])
        #expect(output.finished.status == 1 && output.answer?["files"]?.int == 0, "\(script): \(output.finished.text)")
        #expect(output.answer?["failure_count"]?.int == 2)
        let found = try await run(["find", outside, "-mindepth", "1"])
        #expect(found.text.isEmpty, "\(found.text)")
      }
    }
  }

  /// Somebody with the same user id renames and replaces what is below the target, all the time.
  @Test func aRaceBelowTheTargetWritesNothingElsewhere() async throws {
    try await Self.withState { state, root in
      let (target, outside) = (root + "/target", root + "/outside")
      mkdir(outside, 0o700)
      let racer = try Child(
        [
          "bash", "-c",
          """
          cd "$0"; mkdir -p target
          while :; do mv -T target/made elsewhere; ln -s ../outside target/made; rm -f target/made
            mv -T elsewhere target/made; rm -rf target/made target/changed; done 2> /dev/null
          """, root,
        ], timeLimit: .seconds(60))
      for _ in 0..<30 {
        let finished = try await Self.dataless("export", state, target)
        #expect(finished.status == 0 || finished.status == 1, "\(finished.errorText)")
      }
      racer.signal(SIGKILL)
      let found = try await run(["find", outside, "-mindepth", "1"])
      #expect(found.text.isEmpty, "\(found.text)")
    }
  }
}
