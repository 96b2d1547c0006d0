import Testing

extension RealMounts {
  /// The flag word of macOS, as a C program gets it from the library.
  @Suite struct Flags {
    @Test func theFlagWordSaysDatalessResidentOrNeither() async throws {
      try await withVolume(source: { scratch in
        scratch.directory("directory")
        try scratch.file("directory/file", size: 5000)
        try scratch.file("empty", size: 0)
        try await scratch.shell("ln -s directory/file link")
      }) { volume in
        let program = try await ClientProgram.tn3150.path()
        func flags(_ paths: String...) async throws -> [String] {
          try await run([program, "flags"] + paths).lines
        }
        let (directory, file, link) = (volume.path("directory"), volume.path("directory/file"), volume.path("link"))
        #expect(try await flags(directory) == ["flags=0x40000060"])
        // Through the directory, which is listed by that; a link is followed.
        #expect(try await flags(file, link) == ["flags=0x40000060", "flags=0x40000060"])
        #expect(try await flags(directory, volume.path("empty")) == ["flags=0x40", "flags=0x40"])
        #expect(try await volume.materializedFiles() == 0)
        try await volume.read("directory/file")
        #expect(try await flags(file, link) == ["flags=0x40", "flags=0x40"])
        #expect(
          try await flags("/proc/self/stat", "/", volume.scratch.source) == ["flags=0x0", "flags=0x0", "flags=0x0"])
        #expect(try await flags(volume.path("absent")) == ["outcome=ENOENT"])
      }
    }

    @Test func aFileWithSomeOfItsContentIsFlagged() async throws {
      try await withVolume(["--hydration", "partial"], source: { try $0.file("file", size: 100_000) }) { volume in
        _ = try await run(["head", "-c", "1", volume.path("file")])
        #expect(try await volume.list()["file"]?["state"]?.string == "partial")
        let flags = try await run([try await ClientProgram.tn3150.path(), "flags", volume.path("file")])
        #expect(flags.lines == ["flags=0x40000060"])
      }
    }
  }
}
