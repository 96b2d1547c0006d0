import ArgumentParser
import Testing

@testable import DatalessCommands

/// The command line as a function: arguments in, exit status out. Nothing here mounts.
@Suite struct CommandLineTests {
  @Test(arguments: ["mnt a", "log", "log x --type bogus", "--bogus", "mark /tmp", "ls", "status a b"])
  func wrongUse(line: String) { #expect(Self.execute(line) == 2) }

  /// 2 would be taken for the command's own status.
  @Test(arguments: [
    "run", "run /tmp --bogus -- true", "exec", "exec -- true", "exec --materialize maybe -- true",
    "exec --materialize off",
  ])
  func wrongUseOfWhatPassesAStatusOn(line: String) { #expect(Self.execute(line) == 125) }

  @Test(arguments: ["log /nonexistent", "summary /dev/null", "log /dev/null"])
  func failures(line: String) { #expect(Self.execute(line) == 1) }

  @Test(arguments: [
    "status /proc", "ls /proc", "materialize /proc", "evict /proc/self /", "mark / x", "unmount /proc",
    "summary /proc", "log /",
  ])
  func noVolume(line: String) { #expect(Self.execute(line) == 3) }

  private static func execute(_ line: String) -> Int32 {
    DatalessCommand.execute(line.split(separator: " ").map { String($0) })
  }

  @Test func everyCommandHasTwoExamplesAndItsExitStatuses() {
    let groups = DatalessCommand.configuration.groupedSubcommands
    let commands = groups.flatMap { $0.subcommands }
    #expect(commands.count == 11)
    for command in commands {
      let text = command.configuration.discussion
      let name = command.configuration.commandName ?? ""
      let lines = text.split(separator: "\n")
      #expect(text.contains("EXIT STATUS"), "\(name)")
      #expect(lines.count { $0.hasPrefix("  dataless \(name)") } == 2, "\(name)")
    }
  }

  @Test func theStatusesAreThoseOfTheDocumentation() {
    #expect(DatalessCommands.ExitStatus.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 90, 125, 126, 127, 130])
  }
}
