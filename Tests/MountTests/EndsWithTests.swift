import Glibc
import Testing

extension RealMounts {
  /// `mount --ends-with`: a volume that no dead test leaves behind.
  @Suite struct EndsWith {
    private func source(_ scratch: Scratch) throws { try scratch.file("a", size: 5000) }

    @Test(arguments: [SIGKILL, SIGTERM]) func theVolumeEndsWithTheProcess(signal: Int32) async throws {
      try await withScratch { scratch in
        try source(scratch)
        let process = try Child(["sleep", "1000"], timeLimit: .seconds(60))
        let volume = try await scratch.mount(["--ends-with", "\(process.pid)"])
        #expect(try await volume.status()["options"]?["ends_with_pid"]?.int == Int(process.pid))
        // It has content, and somebody has it open.
        let holder = try Child([
          "sh", "-c", #"exec 3< "$0"; head -c 1 <&3 > /dev/null; echo open; read -r line"#, volume.path("a"),
        ])
        #expect(await holder.line() == "open")
        process.signal(signal)
        await process.wait()
        let records = try await volume.log.wait("the end") { records in
          records.contains { $0["type"]?.string == "volume.unmounted" }
        }
        #expect(records.last { $0["type"]?.string == "volume.unmounted" }?["reason"]?.string == "process_ended")
        holder.closeInput()
        await holder.wait()
      }
    }

    @Test func whatIsNoProcessOfOursIsRefused() async throws {
      try await withScratch { scratch in
        try source(scratch)
        let gone = try Child(["true"])
        await gone.wait()
        let late = try await scratch.tryMount(["--ends-with", "\(gone.pid)"])
        #expect(late.status == 1 && late.errorText.contains("it has ended (ESRCH)"))
        for (text, words) in [("0", "malformed process id"), ("x", "malformed process id"), ("-1", "")] {
          let refused = try await scratch.tryMount(["--ends-with", text])
          #expect(refused.status == 2 && refused.errorText.contains(words))
        }
        #expect(try await run(["mountpoint", "-q", scratch.mountpoint]).status != 0)
      }
    }
  }
}
