import DatalessCore
import SystemPackage
import Testing

@testable import DatalessCommands

/// What `dataless coordinate` says where it does not become its command.
@Suite struct CoordinateFailureTests {
  private static func path(_ text: String) -> PathArgument { PathArgument(bytes: bytes(text)) }

  /// Names are escaped by the daemon, and its sentence ends with the errno's name.
  @Test func aRefusalIsEscapedAndEndsOnce() {
    let absent = CoordinateFailure.notGranted(#"'a\nb' is not there (ENOENT)"#, code: 9, .noSuchFileOrDirectory)
    #expect(
      absent.message == #"the paths are not granted: 'a\nb' is not there (coordination_failed, ENOENT)."#,
      "\(absent.message)")
    let hostile = CoordinateFailure.notGranted("\u{1b}[31m (EIO) x", code: 9, .ioError)
    #expect(
      hostile.message == #"the paths are not granted: \x1b[31m (EIO) x (coordination_failed, EIO)."#,
      "\(hostile.message)")
  }

  @Test func thePathThatLiesOnNoVolumeIsNamed() {
    let paths = [Self.path("/proc/self/a\nb"), Self.path("/etc/passwd")]
    let outside = CoordinateFailure.notAsked(.noData, paths)
    #expect(
      outside.message
        == #"cannot ask for the paths: /proc/self/a\nb does not lie on a volume of dataless (ENODATA). "#
        + "`dataless status` lists the mounted volumes.",
      "\(outside.message)")
    #expect(outside.errno == "ENODATA")
    // The same word as of all other commands, and a status that is not the command's.
    #expect(outside.code == .notAVolume && outside.status == .runFailed)
    let dead = CoordinateFailure.notAsked(.socketNotConnected, paths)
    #expect(dead.code == .failed && !dead.message.contains("dataless status"), "\(dead.message)")
  }
}
