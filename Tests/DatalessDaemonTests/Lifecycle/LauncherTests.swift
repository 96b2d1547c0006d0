import DatalessCore
import DatalessControl
import Glibc
import Testing

@testable import DatalessDaemon

/// The launcher against shell scripts in the daemon's place: descriptor 3 is read, 4 is written, 2 is heard.
@Suite("Starting a daemon")
struct LauncherTests {
  private let scratch = ScratchDirectory()

  private var configuration: VolumeConfiguration {
    VolumeConfiguration(
      source: .directory(Array("/source\u{ff}".utf8) + [0xff]), mountpoint: scratch.bytes("mount"),
      log: scratch.bytes("log"), cacheDirectory: scratch.bytes("cache"), runtimeDirectory: scratch.path,
      session: "0123456789ab")
  }

  private func launcher(_ script: String, timeLimitSeconds: Int = 20) -> DaemonLauncher {
    DaemonLauncher(
      executable: Array("/bin/sh".utf8), arguments: ["sh", "-c", script].map { Array($0.utf8) },
      timeLimitSeconds: timeLimitSeconds)
  }

  private var ready: ReadyVolume {
    ReadyVolume(
      mountpoint: configuration.mountpoint, log: configuration.log, session: configuration.session, pid: 42,
      device: "0:99", warnings: ["w"])
  }

  private func failure(_ launcher: DaemonLauncher) -> LifecycleError? {
    do {
      _ = try launcher.launch(configuration)
      return nil
    } catch {
      return error as? LifecycleError
    }
  }

  @Test func theDaemonGetsItsConfigurationAndIsReportedReady() throws {
    let line = String(decoding: try ReadyMessage.ready(ready).line(), as: UTF8.self)
    scratch.file("answer", line)
    let script = "head -n 1 <&3 >\(scratch.path)/got; cat \(scratch.path)/answer >&4; cat <&3 >\(scratch.path)/rest"
    let launched = try launcher(script).launch(configuration)
    #expect(launched.volume == ready)
    let got = try WireCoding.decode(
      VolumeConfiguration.self, from: FileBytes.read(scratch.bytes("got")).dropLast(), named: "it")
    #expect(got == configuration)
    launched.detach()
    var status: CInt = 0
    #expect(waitpid(launched.pid, &status, 0) == launched.pid)
    #expect(try FileBytes.read(scratch.bytes("rest")) == [HelperProcess.detachByte])
  }

  @Test func aDaemonThatWasNotDetachedSeesTheEndOfItsLauncher() throws {
    scratch.file("answer", String(decoding: try ReadyMessage.ready(ready).line(), as: UTF8.self))
    let script = "head -n 1 <&3 >/dev/null; cat \(scratch.path)/answer >&4; cat <&3 >\(scratch.path)/rest"
    let launched = try launcher(script).launch(configuration)
    launched.release()
    var status: CInt = 0
    #expect(waitpid(launched.pid, &status, 0) == launched.pid)
    #expect(try FileBytes.read(scratch.bytes("rest")) == [])
  }

  @Test func itsErrorAndItsLastWordsBecomeOneLine() throws {
    let message = ReadyMessage.error(message: "cannot mount: because. Do this.", exitCode: 7)
    scratch.file("answer", String(decoding: try message.line(), as: UTF8.self))
    let error = failure(launcher("echo first >&2; echo fuse: last >&2; cat \(scratch.path)/answer >&4"))
    #expect(error?.exitCode == 7)
    #expect(error?.message.hasPrefix("cannot mount: because. Do this. [") == true)
  }

  @Test func aDaemonThatDiesIsNamedWithItsEndAndItsWords() {
    let error = failure(launcher("echo words >&2; kill -SEGV $$"))
    #expect(error?.message.contains("killed by SIGSEGV") == true)
    #expect(error?.message.contains("[words]") == true)
    #expect(failure(launcher("exit 3"))?.message.contains("exit status 3") == true)
  }

  @Test func aDaemonThatSaysNothingIsGivenUp() {
    let error = failure(launcher("cat <&3 >/dev/null; sleep 60", timeLimitSeconds: 1))
    #expect(error?.exitCode == 4)
    #expect(error?.message.contains("within 1 s") == true)
  }

  @Test func theChildStartsWithTheEndingSignalsBlocked() throws {
    // Not through a shell: dash clears the mask.
    let arguments = ["dd", "if=/proc/self/status", "of=\(scratch.path)/status"].map { Array($0.utf8) }
    _ = failure(DaemonLauncher(executable: Array("/bin/dd".utf8), arguments: arguments))
    let status = String(decoding: try FileBytes.read(scratch.bytes("status")), as: UTF8.self)
    #expect(status.contains("SigBlk:\t0000000000004003\n"))
  }

  @Test func theChildHasNoTerminalAndKnowsItsRole() throws {
    let script = """
      readlink /proc/self/fd/0 /proc/self/fd/1 >\(scratch.path)/standard
      env | grep -E '^(SWIFT_BACKTRACE|DATALESS_HELPER)=' | sort >\(scratch.path)/environment
      """
    _ = failure(launcher(script))
    #expect(String(decoding: try FileBytes.read(scratch.bytes("standard")), as: UTF8.self).hasPrefix("/dev/null\n"))
    let environment = String(decoding: try FileBytes.read(scratch.bytes("environment")), as: UTF8.self)
    #expect(environment.hasPrefix("DATALESS_HELPER=daemon\nSWIFT_BACKTRACE="))
  }

  @Test func aProgramThatDoesNotExistIsAnError() {
    let launcher = DaemonLauncher(executable: scratch.bytes("none"), arguments: [Array("x".utf8)])
    #expect(failure(launcher)?.message.contains("(ENOENT)") == true)
  }

  @Test func checksThatHangAreGivenUpAndTheirPathIsNamed() throws {
    let looking = try WireCoding.encode(PreflightChild.Line.looking(at: Array("/hangs".utf8)))
    scratch.file("line", String(decoding: looking, as: UTF8.self) + "\n")
    let child = PreflightChild(
      executable: Array("/bin/sh".utf8),
      arguments: ["sh", "-c", "cat \(scratch.path)/line >&4; sleep 60"].map { Array($0.utf8) }, timeLimitSeconds: 1)
    let request = PreflightRequest(
      source: .synthetic("synthetic:files=1"), mountpoint: scratch.bytes("mount"), log: [], logIsDefault: true,
      cacheDirectory: [], runtimeDirectory: "", allowOther: false, longestWait: 0)
    do {
      _ = try child.inspect(request)
      Issue.record("it answered")
    } catch let error as LifecycleError {
      #expect(error.exitCode == 4)
      #expect(error.message.contains("'/hangs' does not answer within 1 s"))
    }
  }
}
