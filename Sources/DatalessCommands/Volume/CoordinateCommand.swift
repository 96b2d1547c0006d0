import ArgumentParser
import CDataless
import DatalessControl
import DatalessCore
import Glibc
import SystemPackage

/// `dataless coordinate`: runs a command that comes after others who read or write the same files.
struct CoordinateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "coordinate",
    abstract: "Run a command while nobody else who coordinates writes, or uses, the same files.",
    usage: "dataless coordinate [--read <path> ...] [--write <path> ...] -- <command> ...",
    discussion: """
      Waits until all paths may be read and written, has what is dataless made local, and becomes the command. Readers \
      share, writers are alone; a directory is meant with all below it. Who does not coordinate is not kept from \
      anything. The paths are given back when the command ends, or when it closes descriptors that it did not open. They \
      are in nobody's way who is the command or descends from it.

      EXAMPLES
        dataless coordinate --write /mnt/project/notes.txt -- sh -c 'echo more >> /mnt/project/notes.txt'
        dataless coordinate --read /mnt/project/a --write /mnt/project/b --replacing -- cp /mnt/project/a /mnt/project/b

      EXIT STATUS
        The command's own; 125 dataless itself failed, or was not granted the paths; 126 the command cannot be \
      executed; 127 it was not found.
      """)

  @Option(
    parsing: .upToNextOption, help: ArgumentHelp("What the command reads. [default: nothing]", valueName: "path"))
  var read: [PathArgument] = []

  @Option(
    parsing: .upToNextOption, help: ArgumentHelp("What the command writes. [default: nothing]", valueName: "path"))
  var write: [PathArgument] = []

  @Flag(help: "Make nothing local. [default: what is dataless is made local]")
  var withoutMaterialization = false

  @Flag(help: "Only names and attributes are of interest: make nothing local. [default: content is]")
  var metadataOnly = false

  @Flag(help: "What is written is moved: its content is not made local. [default: it is]")
  var moving = false

  @Flag(help: "What is written is deleted: its content is not made local. [default: it is]")
  var deleting = false

  @Flag(help: "What is written is replaced whole: its content is not made local. [default: it is]")
  var replacing = false

  @Option(
    help: ArgumentHelp("How long to wait for the paths at most. [default: as long as it takes]", valueName: "duration"),
    transform: { text in
      try VolumeOptions.checked { () throws(FSError) in try DurationText.parse(text) }
    })
  var timeout: Duration?

  @Flag(help: "Write what fails before the command runs as JSON to standard output. [default: text only]")
  var json = false

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("The command and its arguments, after --.", valueName: "command"))
  var command: [String]

  func validate() throws {
    if read.isEmpty, write.isEmpty { throw ValidationError("name what the command reads or writes: --read, --write.") }
    if command.isEmpty { throw ValidationError("the command is missing: put it after --, as in -- cat file.") }
  }

  private var flags: Int32 {
    let all: [(Bool, Int32)] = [
      (withoutMaterialization, DATALESS_COORDINATE_WITHOUT_MATERIALIZATION),
      (metadataOnly, DATALESS_COORDINATE_METADATA_ONLY), (moving, DATALESS_COORDINATE_MOVING),
      (deleting, DATALESS_COORDINATE_DELETING), (replacing, DATALESS_COORDINATE_REPLACING),
    ]
    return all.reduce(DATALESS_COORDINATE_COMMAND) { $1.0 ? $0 | $1.1 : $0 }
  }

  func run() throws {
    let descriptor = try start()
    try wait(descriptor)
    // The command has it, under the same process id: the intent is its own.
    _ = fcntl(descriptor, F_SETFD, 0)
    let program = ArgumentBytes.decode(command[0])
    let number = ExecCommand.execute(command.map { ArgumentBytes.decode($0) })
    throw CommandFailure(
      RunReport.notStarted(program, errno: number), status: number == ENOENT ? .notFound : .notExecutable,
      errno: Errno(rawValue: number))
  }

  private func start() throws -> Int32 {
    let paths = read.map { ($0, false) } + write.map { ($0, true) }
    let texts = paths.map { strdup($0.0.bytes.map { CChar(bitPattern: $0) } + [0]) }
    defer { for text in texts { free(text) } }
    let claims = zip(texts, paths).map { dataless_claim(path: $0.map { UnsafePointer($0) }, writes: $1.1 ? 1 : 0) }
    let descriptor = dataless_coordinate_start(claims, claims.count, flags, 0)
    guard descriptor < 0 else { return descriptor }
    throw CoordinateFailure.notAsked(Errno(rawValue: errno), paths.map(\.0))
  }

  private func wait(_ descriptor: Int32) throws {
    var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let limit = timeout.map { Int32(clamping: ($0.nanoseconds + 999_999) / 1_000_000) } ?? -1
    var count = poll(&event, 1, limit)
    while count < 0, errno == EINTR { count = poll(&event, 1, limit) }
    guard count != 0 else { throw CoordinateFailure.notFree(read + write, within: timeout ?? .zero) }
    var answer = dataless_coordination()
    guard dataless_coordinate_result(descriptor, &answer) != 0 else { return }
    let message = withUnsafeBytes(of: &answer.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    throw CoordinateFailure.notGranted(message, code: answer.code, Errno(rawValue: answer.error))
  }
}
