import Glibc
import Testing

@testable import DatalessStores

@Suite struct FastLocalFileSystemTests {
  @Test(arguments: ["/dev/shm": true, "/proc": false, "/sys": false])
  func onlyLocalFileSystemsThatAreKnownArePrompt(path: String, isPrompt: Bool) throws {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    #expect(FastLocalFileSystems.contains(descriptor) == isPrompt)
  }

  @Test func aBrokenDescriptorIsNot() { #expect(!FastLocalFileSystems.contains(-1)) }
}
