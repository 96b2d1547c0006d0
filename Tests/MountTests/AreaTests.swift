import Glibc
import Testing

extension RealMounts {
  /// Storage as on a phone: areas, purging, capacity, backup marks, inventory.
  @Suite struct Areas {
    private static let size = 256 << 10
    private static let scenario = """
      areas:
        - {preset: ios, path: "apps/*"}
        - {name: tiles, path: apps/maps/Library/Tiles, category: offline}
      reserve: 1MiB
      """

    private static func source(_ scratch: Scratch) async throws {
      try await scratch.shell(
        """
        mkdir -p apps/maps/Library/Caches apps/maps/Library/Tiles apps/maps/Documents apps/maps/tmp
        mkdir -p apps/mail/Library/Caches apps/mail/Documents apps/purge-test-app/Library/Caches
        """)
      for name in [
        "maps/Library/Caches/c", "maps/Library/Tiles/t", "maps/Documents/d", "maps/tmp/x", "mail/Library/Caches/c",
        "mail/Documents/d", "purge-test-app/Library/Caches/c",
      ] {
        try scratch.file("apps/\(name)", size: size)
      }
    }

    private func gone(_ volume: Volume) async throws -> [String] {
      try await volume.records().compactMap { record in
        guard let type = record["type"]?.string, ["item.purged", "eviction.finished"].contains(type),
          record["kind"]?.string == "file"
        else { return nil }
        let what = type == "item.purged" ? "purged" : "evicted"
        return "\(what) \(record["path"]?.string ?? "?") \(record["reason"]?.string ?? "-")"
      }
    }

    @Test func underPressurePurgesComeBeforeEvictions() async throws {
      try await withScenario(Self.scenario, ["--scratch"], source: Self.source) { volume in
        for name in [
          "mail/Documents/d", "maps/Library/Caches/c", "mail/Library/Caches/c", "maps/Library/Tiles/t", "maps/tmp/x",
        ] {
          try await volume.read("apps/\(name)")
        }
        try await volume.scratch.shell(
          "head -c 300000 /dev/zero > \"$MOUNT/apps/mail/tmp-not\"; cat \"$MOUNT/apps/mail/tmp-not\" > /dev/null")
        let pressed = try await volume.dataless("pressure", "1GiB", volume.mountpoint)
        #expect(pressed.status == 1)
        #expect(pressed.text.hasPrefix("evicted 1 file ("), "\(pressed.text)")
        #expect(pressed.text.contains("), purged 3 files ("), "\(pressed.text)")
        #expect(
          try await gone(volume) == [
            "purged apps/maps/tmp/x temporary", "purged apps/mail/Library/Caches/c cache",
            "purged apps/maps/Library/Caches/c cache", "evicted apps/mail/Documents/d -",
          ])
        let record = try await volume.records(ofType: "item.purged").last
        #expect(record?["app"]?.string == "maps" && record?["area"]?.string == "apps/*/Library/Caches")
        #expect(record?["by"]?.string == "pressure" && record?["lost_bytes"]?.int == 0)
        #expect(try await run(["stat", volume.path("apps/maps/tmp/x")]).errorText.contains("No such file"))
        #expect(try await run(["ls", volume.path("apps/maps/Library/Caches")]).text == "")
        #expect(try await run(["cat", volume.path("apps/mail/Documents/d")]).succeeded)
        #expect(try await volume.list()["apps/maps/Library/Tiles/t"]?["state"]?.string == "resident")
        #expect(try await run(["stat", "\(volume.scratch.source)/apps/maps/tmp/x"]).succeeded)
      }
    }

    @Test func theCacheOfARunningAppStays() async throws {
      try await withScenario(Self.scenario, ["--scratch"], source: Self.source) { volume in
        try await volume.read("apps/purge-test-app/Library/Caches/c")
        try await volume.read("apps/mail/Library/Caches/c")
        let program = "\(volume.scratch.root)/purge-test-app"
        try await volume.scratch.shell("cp /bin/sleep '\(program)'")
        let app = try Child([program, "600"])
        _ = try await volume.dataless("pressure", "1GiB", volume.mountpoint)
        #expect(try await gone(volume) == ["purged apps/mail/Library/Caches/c cache"])
        app.signal(SIGTERM)
        _ = await app.wait()
        _ = try await volume.dataless("pressure", "1GiB", volume.mountpoint)
        #expect(try await gone(volume).last == "purged apps/purge-test-app/Library/Caches/c cache")
      }
    }

    @Test func namesOfAReadOnlyVolumeStay() async throws {
      try await withScenario(Self.scenario, source: Self.source) { volume in
        for name in ["mail/Documents/d", "maps/Library/Caches/c", "maps/tmp/x"] {
          try await volume.read("apps/\(name)")
        }
        _ = try await volume.dataless("pressure", "1GiB", volume.mountpoint)
        #expect(
          try await gone(volume) == [
            "evicted apps/maps/tmp/x temporary", "evicted apps/maps/Library/Caches/c cache",
            "evicted apps/mail/Documents/d -",
          ])
        #expect(try await run(["stat", volume.path("apps/maps/tmp/x")]).succeeded)
      }
    }

    /// What an app writes into its cache goes when the next app needs room; at the next mount, too.
    @Test func aQuotaPurgesWhatWasWrittenAndAKeptVolumeRemembers() async throws {
      try await withScratch { scratch in
        try await Self.source(scratch)
        let options = [
          "--scenario", try scratch.scenario(Self.scenario + "\nquota: 700k\n"), "--state", "\(scratch.root)/state",
        ]
        var volume = try await scratch.mount(options)
        try await scratch.shell("head -c 300000 /dev/urandom > \"$MOUNT/apps/maps/Library/Caches/own\"")
        try await volume.read("apps/mail/Documents/d")
        try await volume.read("apps/maps/Documents/d")
        #expect(try await gone(volume) == ["purged apps/maps/Library/Caches/own cache"])
        let lost = try await volume.records(ofType: "item.purged").first
        #expect(lost?["lost_bytes"]?.int == 300_000)
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        volume = try await scratch.mount(options)
        #expect(try await run(["ls", volume.path("apps/maps/Library/Caches")]).text == "c\n")
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
      }
    }

    @Test func areasOfAKeptVolumeAreTheSameAfterARemount() async throws {
      try await withScratch { scratch in
        try await Self.source(scratch)
        let state = ["--state", "\(scratch.root)/state"]
        func areas(_ options: [String]) async throws -> (shown: String?, inventory: [String]) {
          let volume = try await scratch.mount(state + options)
          _ = try await run(["find", volume.mountpoint])
          let shown = try await volume.status()["options"]?["areas"]?.string
          let inventory = try await volume.json("inventory", volume.mountpoint)
          #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
          return (shown, inventory["areas"]?.array.compactMap { $0["area"]?.string }.sorted() ?? [])
        }
        let given = try await areas(["--scenario", try scratch.scenario(Self.scenario)])
        #expect(given.shown?.isEmpty == false && !given.inventory.isEmpty)
        let kept = try await areas([])
        #expect(kept.shown == given.shown && kept.inventory == given.inventory)
        // A scenario that does not speak of areas leaves them as they are.
        #expect(try await areas(["--quota", "1GiB"]).shown == given.shown)
        #expect(try await areas(["--scenario", try scratch.scenario("areas: ios\n")]).shown != given.shown)
        #expect(try await areas(["--scenario", try scratch.scenario("areas: none\n")]).shown == nil)
        #expect(try await areas([]).shown == nil)
      }
    }

    // MARK: - Capacity

    @Test func capacityIsFreeAndWhatCouldGo() async throws {
      try await withScenario(Self.scenario + "\nquota: 8MiB\n", ["--scratch"], source: Self.source) { volume in
        for name in ["mail/Documents/d", "maps/Library/Caches/c", "maps/Library/Tiles/t", "maps/tmp/x"] {
          try await volume.read("apps/\(name)")
        }
        let answer = try await volume.json("capacity", volume.mountpoint)
        let free = (8 << 20) - 4 * Self.size
        #expect(answer["total_bytes"]?.int == 8 << 20 && answer["free_bytes"]?.int == free)
        #expect(answer["temporary_bytes"]?.int == Self.size && answer["caches_bytes"]?.int == Self.size)
        #expect(answer["evictable_bytes"]?.int == Self.size)
        #expect(answer["important_bytes"]?.int == free + 3 * Self.size)
        #expect(answer["opportunistic_bytes"]?.int == free + Self.size - (1 << 20))
        let shown = try await run(
          ["getfattr", "--only-values", "-n", "user.dataless.capacity", volume.path("apps/mail")])
        #expect(shown.text == "\(free) \(free + 3 * Self.size) \(free + Self.size - (1 << 20))")
        let set = try await run(["setfattr", "-n", "user.dataless.capacity", "-v", "1", volume.path("apps/mail")])
        #expect(set.status != 0 && set.errorText.contains("not permitted"))
        let statfs = try await run(["stat", "-f", "-c", "%a %S", volume.mountpoint]).text.split(separator: " ")
        #expect(statfs.compactMap { Int($0.filter(\.isNumber)) }.reduce(1, *) == free)
      }
    }

    // MARK: - Backup marks

    private static let mark = "user.com.apple.metadata:com_apple_backup_excludeItem"

    @Test func aBackupMarkIsKeptAndInherited() async throws {
      try await withScratch { scratch in
        try await Self.source(scratch)
        let options = [
          "--scenario", try scratch.scenario(Self.scenario), "--state", "\(scratch.root)/state",
        ]
        let client = try await ClientProgram.storage.path()
        var volume = try await scratch.mount(options)
        let (directory, file) = (volume.path("apps/mail/Documents"), volume.path("apps/maps/Documents/d"))
        #expect(try await run([client, "exclude", directory]).text == "ok\n")
        #expect(try await run(["setfattr", "-n", "user.com.apple.MobileBackup", "-v", "0x01", file]).succeeded)
        try await volume.read("apps/maps/Documents/d")
        try await volume.done("evict", file)
        _ = try await run(["mv", file, volume.path("apps/maps/Documents/moved")])
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        volume = try await scratch.mount(options)
        let moved = volume.path("apps/maps/Documents/moved")
        #expect(try await run(["getfattr", "--only-values", "-n", Self.mark, directory]).text == "com.apple.backupd")
        #expect(try await run([client, "get", moved]).text == "1\n")
        #expect(try await run([client, "get", volume.path("apps/mail/Documents/d")]).text == "2\n")
        #expect(try await run([client, "get", volume.path("apps/maps/tmp/x")]).text == "0\n")
        try await volume.scratch.shell("find \"$MOUNT\" > /dev/null")
        let report = try await volume.json("inventory", volume.mountpoint)
        let reasons = report["excluded"]?.array.compactMap { entry in
          entry["reason"]?.string.map { "\($0) \(entry["files"]?.int ?? -1)" }
        }
        #expect(reasons == ["area 5", "directory 1", "mark 1"])
        #expect(try await run([client, "include", moved]).text == "ok\n")
        #expect(try await run([client, "get", moved]).text == "0\n")
        let capacity = try await run([client, "capacity", moved]).text.split(separator: " ")
        #expect(capacity.count == 3)
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        #expect(try await run([client, "capacity", scratch.source]).text == "ENODATA\n")
      }
    }

    // MARK: - Restore

    @Test func aRestoreHasWhatABackupHas() async throws {
      try await withScratch { scratch in
        try await Self.source(scratch)
        let file = try scratch.scenario(Self.scenario)
        let (older, new) = ("\(scratch.root)/older", "\(scratch.root)/restored")
        var volume = try await scratch.mount(["--scenario", file, "--state", older])
        try await scratch.shell(
          """
          cd "$MOUNT/apps"; cat mail/Documents/d > /dev/null; echo mine > mail/Documents/mine; printf '\\nmore\\n' >> maps/Documents/d
          echo own > maps/Library/Caches/own; mkdir -p maps/Library/Caches/deep maps/Documents/private; echo x > maps/Library/Caches/deep/x
          echo secret > maps/Documents/private/secret; setfattr -n \(Self.mark) -v com.apple.backupd maps/Documents/private
          """)
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        let answer = try await volume.json("restore", "--simulate", "--from", older, new, "--scenario", file)
        let absent = answer["absent"]?.array.compactMap { entry in
          entry["reason"]?.string.map { "\($0) \(entry["files"]?.int ?? -1)" }
        }
        #expect(absent == ["area 7", "directory 1"] && answer["failure_count"]?.int == 0)
        #expect(answer["files"]?.int == 3 && answer["written_files"]?.int == 2)
        // The older state keeps its areas.
        let kept = try await volume.json("restore", "--simulate", "--from", older, "\(new)-kept")
        #expect(kept["files"]?.int == 3 && "\(kept["absent"] as Any)" == "\(answer["absent"] as Any)")
        volume = try await scratch.mount(["--scenario", file, "--state", new])
        let there = try await scratch.shell(
          "cd \"$MOUNT\"; find . -type f | sort; ls apps/maps/Library/Caches apps/maps/Documents; tail -n 1 apps/maps/Documents/d; cat apps/mail/Documents/mine"
        )
        #expect(
          there == """
            ./apps/mail/Documents/d
            ./apps/mail/Documents/mine
            ./apps/maps/Documents/d
            apps/maps/Documents:
            d

            apps/maps/Library/Caches:
            more
            mine

            """, "\(there)")
        #expect(try await volume.materializedFiles() == 0)
        #expect(try await volume.list()["apps/mail/Documents/d"]?["state"]?.string == "dataless")
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        let checked = try await volume.dataless("check", new)
        #expect(checked.succeeded, "\(checked.text)\(checked.errorText)")
        volume = try await scratch.mount(["--scenario", file, "--state", older])
        #expect(try await run(["cat", volume.path("apps/maps/Documents/private/secret")]).text == "secret\n")
        let busy = try await volume.dataless("restore", "--simulate", "--from", older, "\(new)-2")
        #expect(busy.status == 1 && busy.errorText.contains("EBUSY"))
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        let again = try await volume.dataless("restore", "--simulate", "--from", older, new)
        #expect(again.status == 1 && again.errorText.contains("ENOTEMPTY"))
      }
    }

    // MARK: - Inventory

    @Test func anInventorySaysWhatIsStored() async throws {
      try await withScenario(Self.scenario, ["--scratch"], source: Self.source) { volume in
        try await volume.scratch.shell(
          """
          cd "$MOUNT"; find . > /dev/null; cat apps/mail/Documents/d apps/maps/tmp/x > /dev/null
          head -c 5000 /dev/zero > apps/mail/Documents/zero; cp apps/mail/Documents/zero apps/mail/Documents/copy
          mv apps/maps/Documents/d apps/maps/tmp/moved
          """)
        let report = try await volume.json("inventory", volume.mountpoint)
        #expect(report["total"]?["files"]?.int == 9)
        #expect(report["total"]?["stored_bytes"]?.int == 7 * Self.size + 10_000)
        #expect(report["total"]?["resident_bytes"]?.int == 2 * Self.size + 2 * 8192)
        #expect(report["total"]?["dirty_bytes"]?.int == 10_000)
        #expect(report["total"]?["purgeable_bytes"]?.int == Self.size)
        #expect(report["total"]?["backup_bytes"]?.int == Self.size + 10_000)
        let categories = report["categories"]?.array.compactMap { $0["category"]?.string }
        #expect(categories == ["documents", "caches", "temporary", "offline"])
        #expect(report["moved"]?["items"]?.array.first?["path"]?.string == "apps/maps/tmp/moved")
        #expect(report["moved"]?["items"]?.array.first?["from"]?.string == "apps/*/Documents")
        #expect(report["repeated"]?["files"]?.int == 1 && report["repeated"]?["bytes"]?.int == 5000)
        #expect(report["repeated"]?["unknown_files"]?.int == 5)
        #expect(report["untouched"]?["files"]?.int == 5)
        #expect(report["unlisted_directories"]?.int == 0)
        try await volume.done("mark", volume.mountpoint, "later")
        try await volume.read("apps/mail/Documents/d")
        let later = try await volume.json("inventory", volume.path("apps/mail"), "--since", "later")
        #expect(later["untouched"]?["files"]?.int == 3 && later["total"]?["files"]?.int == 4)
        #expect(try await volume.materializedFiles() == 2)
        let page = "\(volume.scratch.root)/page.html"
        let text = try await volume.done("inventory", volume.mountpoint, "--report", "html=\(page)").text
        #expect(text.contains("apps/*/Documents (mail)") && text.contains("stored more than once: 1 file"))
        let html = try await run(["cat", page]).text
        #expect(html.contains("<svg") && html.contains("apps/maps") && !html.contains("<script"))
        #expect(try await volume.dataless("inventory", volume.mountpoint, "--since", "never").status == 1)
      }
    }
  }
}
