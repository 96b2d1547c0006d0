import Testing

@testable import FuseKit

struct MountRequestTests {
  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  private func request(_ change: (inout FuseSessionOptions) -> Void = { _ in }) -> MountRequest {
    var options = FuseSessionOptions(source: Array("/src".utf8), subtype: "test")
    change(&options)
    return MountRequest(mountpoint: Array("/mnt".utf8), options: options)
  }

  @Test(arguments: [
    ("plain", "plain"), ("a,b", "a\\,b"), ("a\\b", "a\\\\b"), ("\\,", "\\\\\\,"), ("", ""), ("a=b c", "a=b c"),
  ])
  func commasAndBackslashesOfTheSourceAreEscaped(plain: String, escaped: String) {
    #expect(text(MountRequest.escaped(Array(plain.utf8))) == escaped)
  }

  @Test func bytesThatAreNoTextStayAsTheyAre() {
    #expect(MountRequest.escaped([0xFF, 0x2C, 0x80]) == [0xFF, 0x5C, 0x2C, 0x80])
  }

  @Test func defaultsForTheProgram() {
    #expect(text(request().mountProgramOptions) == "default_permissions,subtype=test,fsname=/src")
  }

  @Test func everyOptionForTheProgram() {
    let request = request {
      $0.source = Array("a,b".utf8)
      $0.allowOther = true
      $0.defaultPermissions = false
      $0.readOnly = true
      $0.noSetID = false
      $0.noDevices = false
      $0.noAccessTime = true
      $0.maxRead = 4096
    }
    #expect(
      text(request.mountProgramOptions)
        == "allow_other,max_read=4096,ro,suid,dev,noatime,subtype=test,fsname=a\\,b")
    #expect(request.flags == 1 | 1024)
  }

  @Test func forTheKernel() {
    let request = request { $0.allowOther = true }
    #expect(
      request.kernelData(device: 9, rootMode: 0o040755, uid: 1, gid: 2)
        == "fd=9,rootmode=40000,user_id=1,group_id=2,default_permissions,allow_other")
    #expect(request.flags == 2 | 4, "nosuid, nodev")
    #expect(request.type == "fuse.test")
    #expect(text(request.source) == "/src")
    #expect(text(self.request { $0.source = [] }.source) == "test")
  }

  @Test(arguments: [
    (
      "option allow_other only allowed if 'user_allow_other' is set in /etc/fuse.conf",
      FuseMountError.Reason.allowOtherForbidden
    ),
    ("too many FUSE filesystems mounted; mount_max=N can be set in /etc/fuse.conf", .tooManyMounts),
    ("fuse: device not found, try 'modprobe fuse' first", .noDevice),
    ("failed to open /dev/fuse: Permission denied", .deviceNotPermitted),
    ("user has no write access to mountpoint /mnt", .mountpoint),
    ("mountpoint is not owned by user", .mountpoint),
    ("bad mount point /mnt: No such file or directory", .mountpoint),
    ("mount failed: Operation not permitted", .refused),
    ("", .refused),
  ])
  func wordsOfTheProgramBecomeAReason(words: String, reason: FuseMountError.Reason) {
    let error = MountProgram.classify(words, options: FuseSessionOptions(source: [], subtype: "test"))
    #expect(error.reason == reason)
    #expect(!error.description.contains("\n"))
    #expect(error.description.hasSuffix(".") || error.description.hasSuffix("?"))
  }
}
