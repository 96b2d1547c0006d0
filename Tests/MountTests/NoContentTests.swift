import Testing

extension RealMounts {
  /// Operations that need no content, and so cost nothing.
  @Suite struct NoContent {
    static func someFiles(_ scratch: Scratch) async throws {
      try scratch.file("plain", size: 20_000)
      try scratch.file("empty", size: 0)
      for directory in ["one", "one/two", "one/two/three"] {
        scratch.directory(directory)
        for index in 0..<10 { try scratch.file("\(directory)/file-\(index)", size: 1000 * (index + 1)) }
      }
      try await scratch.shell("ln -s plain link; mkfifo fifo; ln plain hard")
    }

    @Test func callsThatNeedNoContentMaterializeNothing() async throws {
      try await withVolume(["--latency", "20s"], source: Self.someFiles) { volume in
        let answers = try await volume.probe("look", volume.path("plain"), timeLimit: .seconds(10))
        let values = answers.reduce(into: [String: String]()) { $0.merge($1.values) { first, _ in first } }
        for call in [
          "lstat", "statx", "access", "listxattr", "statfs", "open", "fstat", "lseek_end", "flock", "setlk", "poll",
          "fsync", "dup", "mmap", "close", "open_path",
        ] {
          #expect(values[call] == "ok", "\(call)")
        }
        #expect(values["getxattr_absent"] == "ENODATA")
        #expect(values["blocks"] == "0")
        #expect(values["seek_data"] == "0")
        #expect(values["seek_hole"] == "20000", "all of it is data")
        #expect(try await volume.materializedFiles() == 0)
        #expect(try await volume.fileAttempts().isEmpty)
      }
    }

    @Test func toolsThatOnlyLookMaterializeNoFile() async throws {
      try await withVolume(["--latency", "20s"], source: Self.someFiles) { volume in
        let mount = volume.mountpoint
        let target = volume.scratch.root + "/target"
        var commands = [
          ["find", mount, "-size", "+1k"], ["du", "-s", mount], ["ls", "-lR", mount],
          ["tar", "cf", "/dev/null", "-C", mount, "."], ["find", mount, "-newer", "/etc/hostname"],
        ]
        if Machine.hasACLTools { commands += [["getfacl", "-R", mount], ["getfattr", "-dR", mount]] }
        commands.append(["rsync", "-an", mount + "/", target])
        for command in commands {
          let finished = try await run(command, timeLimit: .seconds(15))
          #expect(finished.succeeded, "\(command): \(finished.errorText)")
        }
        #expect(try await volume.materializedFiles() == 0)
        #expect(try await volume.fileAttempts().isEmpty)
      }
    }

    @Test func gitStatusOfACleanRepositoryReadsNoFileOfItsWorkTree() async throws {
      try await withVolume(source: { scratch in
        try await Self.someFiles(scratch)
        try await scratch.shell(
          """
          rm fifo; export HOME="$ROOT" GIT_CONFIG_NOSYSTEM=1
          git init -q; git add .; git -c user.name=x -c user.email=x@y commit -qm all
          # Files older than the index: git trusts their times without looking into them.
          find . -path ./.git -prune -o -type f -exec touch -d '2020-01-01' {} +
          git status --short
          """)
      }) { volume in
        let status = try await run(
          ["git", "--no-optional-locks", "-C", volume.mountpoint, "status", "--short"],
          environment: ["HOME": volume.scratch.root, "GIT_CONFIG_NOSYSTEM": "1"])
        #expect(status.succeeded && status.text == "", "\(status.text)\(status.errorText)")
        let paths = try await volume.fileAttempts().compactMap { $0["path"]?.string }
        #expect(!paths.isEmpty, "it reads its own index")
        for path in paths { #expect(path.hasPrefix(".git/"), "\(path)") }
      }
    }

    @Test func summaryOfAWalkSaysThatNothingWasMaterialized() async throws {
      try await withVolume(source: Self.someFiles) { volume in
        _ = try await run(["find", volume.mountpoint, "-size", "+1k"])
        let summary = try await volume.dataless("summary", volume.mountpoint)
        #expect(summary.succeeded)
        #expect(summary.text.contains("0 files"), "\(summary.text)")
      }
    }

    @Test func emptyFilesLinksAndPipesAreNeverDataless() async throws {
      try await withVolume(["--latency", "20s"], source: Self.someFiles) { volume in
        let empty = try await volume.read("empty", timeLimit: .seconds(10))
        #expect(empty.bytes == 0 && empty.outcome == "ok")
        #expect(try await run(["readlink", volume.path("link")], timeLimit: .seconds(10)).text == "plain\n")
        let items = try await volume.list()
        for name in ["empty", "link", "fifo"] { #expect(items[name]?["state"]?.string != "dataless", "\(name)") }
        #expect(try await volume.fileAttempts().isEmpty)
      }
    }

    @Test func lookingAtADirectoryItselfDoesNotListIt() async throws {
      try await withVolume(source: Self.someFiles) { volume in
        _ = try await run(["stat", volume.path("one")])
        _ = try await run(["test", "-r", volume.path("one")])
        _ = try await run(["bash", "-c", "exec 3< \"$0\"", volume.path("one")])
        let paths = try await volume.directoryAttempts().compactMap { $0["path"]?.string }
        #expect(paths == [""] || paths == ["."], "only the root was listed: \(paths)")
        #expect(try await volume.list()["one"]?["state"]?.string == "dataless")
      }
    }

    @Test func ourOwnCommandsListAndMaterializeNothing() async throws {
      try await withVolume(["--latency", "20s", "--directory-latency", "20s"], source: Self.someFiles) { volume in
        for arguments in [
          ["status", volume.mountpoint], ["ls", "-R", volume.mountpoint], ["ls", volume.mountpoint],
          ["log", volume.mountpoint], ["summary", volume.mountpoint], ["mark", volume.mountpoint, "here"],
          ["evict", volume.mountpoint],
        ] {
          let finished = try await run([Machine.dataless] + arguments, timeLimit: .seconds(10))
          #expect(finished.succeeded, "\(arguments): \(finished.errorText)")
        }
        // Another volume of this machine may have lost its daemon, which is status 3.
        let all = try await run([Machine.dataless, "status"], timeLimit: .seconds(10))
        #expect(all.status == 0 || all.status == 3, "\(all.errorText)")
        #expect(all.text.contains(volume.mountpoint))
        #expect(try await volume.fileAttempts().isEmpty)
        #expect(try await volume.directoryAttempts().isEmpty)
      }
    }
  }
}
