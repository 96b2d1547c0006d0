import ArgumentParser
import DatalessControl
import Glibc
import Testing

@testable import DatalessCommands

/// Options that name one file: `run` and `check-log` refuse them before they open any. Nothing here mounts.
@Suite struct NamedFileTests {
  /// A directory with a file `b`, and a link to that directory.
  private final class Folder {
    let path: String

    init() throws {
      var template = Array("/tmp/dataless-named-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw TemporaryFile.Failure.errno(errno) }
      path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let file = open("\(path)/b", O_CREAT | O_WRONLY, 0o600)
      write(file, "kept", 4)
      close(file)
      symlink(".", "\(path)/here")
      symlink("later", "\(path)/link")
    }

    deinit {
      for name in ["b", "here", "link", "new", "later"] { unlink("\(path)/\(name)") }
      rmdir(path)
    }

    var content: String {
      let file = open("\(path)/b", O_RDONLY)
      var buffer = [UInt8](repeating: 0, count: 10)
      let count = read(file, &buffer, 10)
      close(file)
      return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    }

    func has(_ name: String) -> Bool { access("\(path)/\(name)", F_OK) == 0 }

    /// `@` is the directory.
    func words(_ line: String) -> [String] { line.split(separator: " ").map { String($0.replacing("@", with: path)) } }
  }

  @Test(arguments: [
    ("--log @/b --json @/b", "--json and --log"),
    ("--json @/b --report html=@/b", "--json and --report html"),
    ("--baseline @/b --json @/b", "--json and --baseline"),
    ("--baseline @/b --report json=@/b", "--baseline and --report json"),
    ("--baseline @/b --update-baseline --report json=@/here/b", "--baseline and --report json"),
    ("--baseline @/b --update-baseline --scenario @/b", "--scenario and --baseline"),
    ("--scenario @/b --report json=@/b", "--scenario and --report json"),
    ("--scenario @/b --log @//b", "--scenario and --log"),
    ("--log @/b --report trace=@/b", "--log and --report trace"),
    ("--report html=@/b --report json=@/b", "--report html and --report json"),
    ("--log @/new --json @/here/new", "--json and --log"),
    ("--log @/new --report junit=@/new", "--log and --report junit"),
    ("--log @/link --json @/later", "--json and --log"),
  ])
  func runRefusesTwoOptionsOfOneFile(line: String, options: String) throws {
    let folder = try Folder()
    let arguments = [folder.path] + folder.words(line) + ["--", "true"]
    let failure = try #require(try RunCommand.parse(arguments).fileConflict()?.failure(status: .runFailed))
    #expect(failure.message.contains("for \(options): one would destroy the other (EINVAL)."), "\(failure.message)")
    #expect(failure.message.contains("'\(folder.path)/"))
    #expect(DatalessCommand.execute(["run"] + arguments) == 125)
    #expect(folder.content == "kept")
    #expect(!folder.has("new") && !folder.has("later"))
  }

  @Test(arguments: [
    "--baseline @/b --scenario @/b", "--log @/new --json @/later", "--json - --scenario -",
    "--log /dev/null --json /dev/null --report html=/dev/null", "--state @ --json @/new",
  ])
  func filesOfTheirOwnAreNoConflict(line: String) throws {
    let folder = try Folder()
    let command = try RunCommand.parse([folder.path] + folder.words(line) + ["--", "true"])
    let hasConflict = command.fileConflict() != nil
    #expect(!hasConflict)
  }

  @Test func theLogOfAKeptVolumeIsOneOfThem() throws {
    let folder = try Folder()
    let line = folder.words("--state @/here --report html=@/log")
    let conflict = try #require(try RunCommand.parse([folder.path] + line + ["--", "true"]).fileConflict())
    #expect(conflict.concerns("--state") && conflict.concerns("--report html"))
  }

  /// Where the answer goes is opened also for arguments that are wrong.
  @Test(arguments: [
    "--json @/b --baseline @/b --bogus", "--json=@/b --baseline=@/b --bogus", "--json @/b --report html=@/b --bogus",
  ])
  func wrongArgumentsDestroyNothing(line: String) throws {
    let folder = try Folder()
    #expect(DatalessCommand.execute(["run", folder.path] + folder.words(line) + ["--", "true"]) == 125)
    #expect(folder.content == "kept")
  }

  @Test func aNewBaselineReplacesNoFileOfExpectations() throws {
    let folder = try Folder()
    for line in ["/dev/null --expect @/b --baseline @/b", "@/b --max-files 1 --baseline @/here/b"] {
      #expect(DatalessCommand.execute(["check-log"] + folder.words(line) + ["--update-baseline"]) == 2)
    }
    #expect(folder.content == "kept")
  }

  /// An answer names what the log does, and so do reports.
  @Test func aNewAnswerIsForItsOwnerAloneAndAKnownFileKeepsItsMode() throws {
    let folder = try Folder()
    chmod("\(folder.path)/b", 0o640)
    for (name, mode) in [("new", 0o600), ("b", 0o640)] as [(String, mode_t)] {
      let destination = try JSONDestination.open(path: bytes("\(folder.path)/\(name)"))
      close(destination.descriptor)
      var status = stat()
      lstat("\(folder.path)/\(name)", &status)
      #expect(status.st_mode == S_IFREG | mode, "\(name)")
    }
  }
}
