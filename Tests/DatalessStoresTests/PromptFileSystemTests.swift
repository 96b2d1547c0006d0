import Glibc
import Testing

@testable import DatalessStores

@Suite struct PromptFileSystemTests {
  @Test(arguments: ["/dev/shm": true, "/proc": false, "/sys": false])
  func onlyLocalFileSystemsThatAreKnownArePrompt(path: String, isPrompt: Bool) throws {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    #expect(PromptFileSystems.contains(descriptor) == isPrompt)
  }

  @Test func aBrokenDescriptorIsNot() { #expect(!PromptFileSystems.contains(-1)) }
}
