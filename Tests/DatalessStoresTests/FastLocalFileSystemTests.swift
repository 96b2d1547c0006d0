import Glibc
import Testing

@testable import DatalessStores

@Suite struct FastLocalFileSystemTests {
  @Test(arguments: ["/dev/shm": true, "/proc": false, "/sys": false])
  func onlyLocalFileSystemsThatAreKnownAreFast(path: String, isFastLocal: Bool) throws {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    #expect(FastLocalFileSystems.contains(descriptor) == isFastLocal)
  }

  @Test func aBrokenDescriptorIsNot() { #expect(!FastLocalFileSystems.contains(-1)) }
}
