import DatalessCore
import DatalessDaemon
import SystemPackage
import Testing

/// Which status and code an error of the engine, or of the system, is answered with (docs/CONTROL-API.md).
@Suite struct ControlFailureTests {
  @Test(
    arguments: [
      (.noSuchFileOrDirectory, 404, "not_found"), (.noSuchProcess, 404, "not_found"),
      (.invalidArgument, 422, "invalid_request"), (.notDirectory, 422, "invalid_request"),
      (.isDirectory, 422, "invalid_request"), (.fileNameTooLong, 422, "invalid_request"),
      (.resourceBusy, 409, "busy"), (.staleNFSFileHandle, 409, "busy"), (.permissionDenied, 403, "forbidden"),
      (.notPermitted, 403, "forbidden"), (.timedOut, 504, "timed_out"), (.noSpace, 507, "no_space"),
      (.notSupported, 501, "not_supported"), (.ioError, 500, "failed"), (.tooManyLinks, 500, "failed"),
    ] as [(Errno, Int, String)])
  func anErrnoHasAStatusAndACode(errno: Errno, status: Int, code: String) {
    let failure = ControlFailure(FSError(errno, "why"))
    #expect(failure.status == status && failure.code == code)
    #expect(failure.errno == errno.name && failure.message == "why")
  }
}
