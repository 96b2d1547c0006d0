import Glibc

/// A tmpfs of 256 KiB for the tests of a full disk. Unmounted and removed when the test lets go of it. Needs root.
final class SmallDisk {
  let path: String

  init() throws {
    path = try LogFixture.makeDirectory()
    guard mount("none", path, "tmpfs", 0, "size=256k") == 0 else {
      rmdir(path)
      throw Failure.notMounted(errno)
    }
  }

  deinit {
    umount2(path, Int32(MNT_DETACH))
    rmdir(path)
  }

  /// Takes all the space that is left.
  func fill() throws {
    let descriptor = open(path + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure.notMounted(errno) }
    defer { close(descriptor) }
    let page = [UInt8](repeating: 0, count: 4096)
    while write(descriptor, page, page.count) > 0 {}
  }

  func empty() { unlink(path + "/filler") }

  enum Failure: Error {
    case notMounted(Int32)
  }
}
