import Glibc
import Testing

@testable import DatalessStacks

/// A real interpreter that waits.
@Suite struct PythonCaptureTests {
  private static let text = """
    import os

    def load(fd):
        data = [0]
        for _ in data:
            return os.read(
                fd, 1)

    class Window:
        def show(self):
            return load(0)

    Window().show()

    """

  /// Before 3.7 there is no runtime that could be found, and nothing to be read.
  @Test(arguments: [true, false]) func anyVersionIsRecognized(isPython: Bool) throws {
    let name = isPython ? "Py_GetVersion" : "get_version"
    let program = try BlockedProgram(
      source: """
        #include <unistd.h>
        const char *\(name)(void) { return "3.6.15"; }
        int main(void) { char byte; return (int)read(0, &byte, 1) + !\(name)(); }
        """, options: ["-O0"])
    let descriptor = open(program.directory + "/p", O_RDONLY)
    defer { close(descriptor) }
    let elf = try #require(ElfFile(FileBytes(descriptor: descriptor)))
    #expect(InterpreterImage(elf) == (isPython ? .unknownPython : nil))
  }

  @Test(.enabled(if: BlockedProgram.isInstalled("python3"))) func functionsFilesAndLines() throws {
    let program = try BlockedProgram(python: Self.text)
    let taken = ThreadCapture.take(processID: program.processID, threadID: program.processID, volumes: []) {
      mappings, memory, _ in
      let search = PythonProgram.find(in: mappings, memory: memory) { mapping in
        guard let descriptor = CallerFile.open(mapping, of: program.processID) else { return nil }
        defer { close(descriptor) }
        return ElfFile(FileBytes(descriptor: descriptor)).flatMap { PythonImage($0) }
      }
      guard case .found(let python) = search else { return (search, PythonStack.notReadable) }
      let walk = PythonWalk(memory: memory, layout: python.layout, runtime: python.runtime)
      return (search, walk.stack(of: program.processID))
    }
    let (search, stack) = try taken.get().walked
    guard case .found(let python) = search else {
      // A version that is not known has to be said to be so, and nothing more.
      #expect(search == .unknownVersion)
      return
    }
    guard case .frames(let frames, let isComplete) = stack else {
      Issue.record("no frames of Python 3.\(python.layout.minor)")
      return
    }
    #expect(isComplete)
    #expect(frames.map(\.line) == [6, 11, 13])
    let names = frames.map { String(decoding: $0.function, as: UTF8.self) }
    // Qualified since 3.11.
    #expect(names == ["load", python.layout.minor > 10 ? "Window.show" : "show", "<module>"])
    #expect(frames.allSatisfy { String(decoding: $0.file, as: UTF8.self).hasSuffix("/fm.py") })
  }
}
