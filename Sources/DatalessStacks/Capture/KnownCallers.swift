/// What captures leave for later ones of the same callers: open files of /proc, tables, descriptors of mapped files.
/// Nothing of it is believed without a look: a table holds for the very text that it was made of. For one thread.
public final class KnownCallers {
  // LIMIT: threads whose two files are kept open.
  static let threadsMax = 64
  // LIMIT: processes whose mappings are kept, and so files that are kept open: 96 of each.
  static let processesMax = 8
  // LIMIT: bytes of a text of mappings that is kept.
  static let textMax = 1 << 20

  private struct Thread: Hashable {
    let processID: Int32
    let threadID: Int32
  }

  private struct Process {
    let text: [UInt8]
    let volumes: Set<DeviceNumber>
    let mappings: MappingTable
    var files: OpenedFiles?
    var lastUse: UInt64
  }

  private var threads: [Thread: (files: ThreadFiles, lastUse: UInt64)] = [:]
  private var processes: [Int32: Process] = [:]
  private var uses: UInt64 = 0

  public init() {}

  func thread(processID: Int32, threadID: Int32) -> ThreadFiles {
    let thread = Thread(processID: processID, threadID: threadID)
    uses += 1
    if let known = threads[thread] {
      threads[thread]?.lastUse = uses
      return known.files
    }
    if threads.count >= Self.threadsMax, let oldest = threads.min(by: { $0.value.lastUse < $1.value.lastUse }) {
      threads[oldest.key] = nil
    }
    let files = ThreadFiles(processID: processID, threadID: threadID)
    threads[thread] = (files, uses)
    return files
  }

  /// What a process has mapped now; nil when that cannot be read.
  func mappings(of processID: Int32, volumes: Set<DeviceNumber>) -> MappingTable? {
    guard let text = ProcessFile.bytes("\(processID)/maps", limit: MappingTable.bytesMax) else { return nil }
    uses += 1
    if let known = processes[processID], known.text == text, known.volumes == volumes {
      processes[processID]?.lastUse = uses
      return known.mappings
    }
    guard let mappings = MappingTable(text, volumes: volumes) else { return nil }
    guard text.count <= Self.textMax else {
      processes[processID] = nil
      return mappings
    }
    if processes[processID] == nil, processes.count >= Self.processesMax,
      let oldest = processes.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      processes[oldest.key] = nil
    }
    processes[processID] = Process(text: text, volumes: volumes, mappings: mappings, files: nil, lastUse: uses)
    return mappings
  }

  /// The executable files of the mappings that were read of a process last.
  ///
  /// - Parameter open: Opens them, as the caller's user.
  func files(
    of processID: Int32, _ mappings: MappingTable, open: () -> (files: OpenedFiles, isFinal: Bool)
  ) -> OpenedFiles {
    if let known = processes[processID], let files = known.files, known.mappings == mappings { return files }
    let opened = open()
    if opened.isFinal, processes[processID]?.mappings == mappings { processes[processID]?.files = opened.files }
    return opened.files
  }
}
