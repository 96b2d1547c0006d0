import DatalessCore

extension ProcessTable: ProcessDirectory {
  /// As each was when it was first seen; one that was forgotten is left out.
  func lineage(of process: ProcessID) -> [ProcessFacts] {
    guard let record = info(process) else { return [] }
    return [ProcessFacts(record)] + record.parents.compactMap { info($0).map(ProcessFacts.init) }
  }
}

extension ProcessFacts {
  init(_ record: ProcessRecord) {
    self.init(executable: record.exe, commandName: record.comm, cgroup: record.cgroup, uid: record.uid)
  }
}
