import DatalessCore
import Glibc
import Testing

@testable import DatalessDaemon

@Suite("Whether this machine lets this user mount")
struct FuseAvailabilityTests {
  private let scratch = ScratchDirectory()

  private var fuse: FuseAvailability {
    var fuse = FuseAvailability()
    fuse.userID = 0
    fuse.device = "/dev/null"
    fuse.deviceNumber = (1, 3)
    fuse.configuration = "\(scratch.path)/fuse.conf"
    fuse.processStatus = "\(scratch.path)/status"
    fuse.searchPath = [scratch.path]
    return fuse
  }

  private func message(_ fuse: FuseAvailability, allowOther: Bool = false) -> String? {
    do throws(LifecycleError) {
      try fuse.check(allowOther: allowOther)
      return nil
    } catch {
      return error.message
    }
  }

  @Test func aMissingDeviceNamesTheModuleAndTheContainerOption() {
    var fuse = fuse
    fuse.device = "\(scratch.path)/none"
    let text = message(fuse)
    #expect(text?.contains("modprobe fuse") == true)
    #expect(text?.contains("--device /dev/fuse --cap-add SYS_ADMIN") == true)
  }

  @Test(.enabled(if: geteuid() != 0, "root opens everything"))
  func aDeviceThatIsClosedToUsersNamesItsMode() {
    var fuse = fuse
    fuse.userID = 1000
    fuse.device = "\(scratch.path)/device"
    scratch.file("device")
    chmod(fuse.device, 0)
    #expect(message(fuse)?.contains("chmod 666") == true)
  }

  @Test func anotherDeviceInItsPlaceIsSaid() {
    var fuse = fuse
    fuse.deviceNumber = (10, 229)
    #expect(message(fuse)?.contains("/dev/null is something else than FUSE's device (10, 229)") == true)
    fuse.device = "\(scratch.path)/file"
    scratch.file("file")
    #expect(message(fuse)?.contains("something else") == true)
  }

  @Test func rootWithoutTheCapabilityIsToldSo() {
    scratch.file("status", "Name:\tx\nCapEff:\t000001ffffdfffff\n")
    #expect(message(fuse)?.contains("CAP_SYS_ADMIN") == true)
    scratch.file("status", "Name:\tx\nCapEff:\t000001ffffffffff\n")
    #expect(message(fuse) == nil)
  }

  @Test func aUserNeedsTheHelper() {
    var fuse = fuse
    fuse.userID = 1000
    #expect(message(fuse)?.contains("apt install fuse3") == true)
    scratch.file("fusermount3")
    #expect(message(fuse)?.contains("set-user-id") == true)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can make a set-user-id root file"))
  func aUserNeedsTheLineForAllowOther() {
    var fuse = fuse
    fuse.userID = 1000
    scratch.file("fusermount3")
    chmod("\(scratch.path)/fusermount3", 0o4755)
    #expect(message(fuse) == nil)
    #expect(message(fuse, allowOther: true)?.contains("user_allow_other") == true)
    scratch.file("fuse.conf", "# user_allow_other\nmount_max = 10\n")
    #expect(message(fuse, allowOther: true)?.contains("user_allow_other") == true)
    scratch.file("fuse.conf", "mount_max = 10\n user_allow_other \n")
    #expect(message(fuse, allowOther: true) == nil)
  }

  @Test func aRequestTimeoutBelowTheLatencyIsWarnedOf() {
    func warnings(_ seconds: Int64) -> [String] {
      RequestTimeout.warnings(longestWait: .seconds(seconds), directory: scratch.path)
    }
    #expect(warnings(1000) == [])
    scratch.file("default_request_timeout", "0\n")
    scratch.file("max_request_timeout", "20\n")
    #expect(warnings(19) == [])
    #expect(warnings(20).first?.contains("fs.fuse.max_request_timeout is 20 s") == true)
  }
}
