import Glibc
import Testing

extension RealMounts {
  /// Paths of commands that lead through symbolic links on the volume.
  @Suite struct LinkPaths {
    private static func tree(_ scratch: Scratch) async throws {
      try await scratch.shell(
        """
        mkdir -p releases/3/bin other; for i in 1 2 3; do echo "$i" > releases/3/bin/f$i; done; echo o > other/o
        ln -s releases/3 current; ln -s current/bin bin; ln -s ../../../other releases/3/bin/up; ln -s "$MOUNT/other" absolute
        ln -s /etc out; ln -s .. above; ln -s round round
        """)
    }

    private func state(of volume: Volume, _ path: String) async throws -> String? {
      try await volume.json("ls", volume.path(path))["state"]?.string
    }

    @Test func linksOnTheWayAreFollowed() async throws {
      try await withVolume(["--scratch"], source: Self.tree) { volume in
        // Nothing is listed yet: what has to be known of the links is looked up.
        for path in ["bin/f1", "current/bin/f2", "bin/up/o"] {
          let answer = try await volume.dataless("materialize", volume.path(path), "--json")
          #expect(answer.succeeded && answer.text.contains(#""files":1"#), "\(path): \(answer.text)\(answer.errorText)")
        }
        #expect(try await state(of: volume, "releases/3/bin/f1") == "resident")
        #expect(try await state(of: volume, "releases/3/bin/f2") == "resident")
        #expect(try await state(of: volume, "bin/f3") == "dataless")
        #expect(try await volume.dataless("pin", volume.path("bin/f3")).succeeded)
        #expect(try await volume.dataless("evict", volume.path("bin/f1")).succeeded)
        #expect(try await volume.dataless("evict", volume.path("absolute/o")).succeeded)
        #expect(try await state(of: volume, "releases/3/bin/f1") == "dataless")
        #expect(try await state(of: volume, "other/o") == "dataless")
        #expect(try await volume.dataless("inventory", volume.path("current/bin"), "--json").succeeded)
        #expect(try await volume.dataless("refresh", volume.path("current/bin")).succeeded)
        // As rm: the link at the end is what goes.
        #expect(try await volume.dataless("remove", volume.path("bin/up"), volume.path("current/bin/f1")).succeeded)
        let left = try await volume.scratch.shell(#"cd "$MOUNT"; ls releases/3/bin other"#)
        #expect(left == "other:\no\n\nreleases/3/bin:\nf2\nf3\n")
      }
    }

    @Test func linksThatLeadNowhereAreSaid() async throws {
      try await withVolume(["--scratch"], source: Self.tree) { volume in
        try await volume.scratch.shell(#"ls "$MOUNT" > /dev/null"#)
        for (path, errno) in [
          ("out/passwd", "EXDEV"), ("above/x", "EXDEV"), ("round/x", "ELOOP"), ("other/o/x", "ENOTDIR"),
        ] {
          let answer = try await volume.dataless("remove", volume.path(path))
          #expect(answer.status == 1 && answer.errorText.contains(errno), "\(path): \(answer.errorText)")
        }
        #expect(try await volume.scratch.shell("test -e /etc/passwd && echo there") == "there\n")
      }
    }
  }
}
