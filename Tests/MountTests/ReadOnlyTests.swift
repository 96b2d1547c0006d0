import Testing

extension RealMounts {
  /// Until writing lands, every change is EROFS, costs nothing and is no event.
  @Suite struct ReadOnly {
    static func entries(_ scratch: Scratch) async throws {
      try await scratch.shell(
        "mkdir dir; echo file > file; echo other > other; ln -s file link; setfattr -n user.note -v 1 file || true")
    }

    @Test func everyChangeIsRefusedWithEROFS() async throws {
      try await withVolume(source: Self.entries) { volume in
        let answers = try await volume.probe("change", volume.mountpoint)
        #expect(answers.count > 20)
        for answer in answers {
          for (call, outcome) in answer.values {
            // O_TMPFILE is not known to FUSE file systems at all, which the kernel may say first.
            if call == "temporary" && outcome == "EOPNOTSUPP" { continue }
            // A name that exists is the first thing wrong with it.
            if call == "rename_over" || call == "exchange" {
              #expect(["EROFS", "EINVAL"].contains(outcome), "\(call)")
            } else {
              #expect(outcome == "EROFS", "\(call)")
            }
          }
        }
        let events = try await volume.records().filter {
          let type = $0["type"]?.string ?? ""
          return type.hasPrefix("materialization.") && $0["kind"]?.string == "file"
            || type.hasPrefix("wait.")
              && $0["trigger"]?.string != "lookup" && $0["trigger"]?.string != "readdir"
        }
        #expect(events.isEmpty, "\(events)")
        #expect(try await volume.materializedFiles() == 0)
        #expect(try await run(["ls", volume.mountpoint]).lines == ["dir", "file", "link", "other"])
      }
    }

    @Test func mountAndStatusSayThatItIsReadOnly() async throws {
      try await withVolume(source: Self.entries) { volume in
        #expect((volume.mounted.text + volume.mounted.errorText).contains("read-only"))
        let status = try await volume.status()
        #expect(status["read_only"]?.bool == true)
        let shown = try await volume.dataless("status", volume.mountpoint)
        #expect(shown.text.contains("read-only"))
      }
    }

    @Test func sourceIsNeverWrittenToNotEvenAnAccessTime() async throws {
      try await withScratch { scratch in
        try await Metadata.everyKind(scratch)
        try await scratch.shell("rm huge; find . ! -type l -exec touch -a -d '2001-01-01' {} + ")
        let before = try await Metadata.dump(scratch.source)
        let volume = try await scratch.mount()
        _ = try await Metadata.dump(volume.mountpoint, "content")
        _ = try await volume.probe("change", volume.mountpoint)
        _ = try await volume.dataless("materialize", volume.mountpoint)
        _ = try await volume.dataless("evict", volume.mountpoint)
        _ = try await volume.dataless("unmount", volume.mountpoint)
        Metadata.expectEqual(try await Metadata.dump(scratch.source), before)
      }
    }

    @Test func setuidAndDevicesOfTheSourceHaveNoPowerOnTheVolume() async throws {
      try await withVolume(source: Self.entries) { volume in
        let text = try await run(["grep", " \(volume.mountpoint) ", "/proc/self/mountinfo"]).text
        #expect(text.contains("nosuid"))
        #expect(text.contains("nodev"))
        #expect(text.contains("fuse.dataless"))
      }
    }
  }
}
