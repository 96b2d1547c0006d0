/// What the report says of files.
extension SummaryFiles {
  var longestChain: SummaryReport.Chain? { chains.longest }

  /// How many files were materialized, each version of a file counted as the same, and the bytes that came of them,
  /// each counted once; nil bytes when the log does not tell.
  var distinct: (files: Int64, bytes: Int64?) {
    var files: Int64 = 0
    var bytes: Int64? = 0
    for (row, version) in versions.enumerated() where version.materializations > 0 && !version.hasLater {
      files += 1
      bytes = bytes.flatMap { sum in version.distinctBytes(parts[row]).map(sum.plus) }
    }
    return (files, bytes)
  }

  /// Files by what was read of them. - Parameter isAllTold: As in `FileVersion.use`.
  func use(isAllTold: Bool) -> SummaryReport.Use {
    var use = SummaryReport.Use()
    for version in versions {
      if version.reads.isReadAgain { use.readAgainAfterEviction += 1 }
      if let kind = version.use(version.reads, isAllTold: isAllTold) { use.count(kind) }
      if version.isNeedless(isAllTold: isAllTold) { use.addNeedless(version.local) }
    }
    return use
  }

  /// The same by the group of the program that read; needless ones by the one that they were materialized for.
  func usesByGroup(isAllTold: Bool) -> [Int: SummaryReport.Use] {
    var result: [Int: SummaryReport.Use] = [:]
    for (key, reads) in uses {
      if reads.isReadAgain { result[key.group, default: .init()].readAgainAfterEviction += 1 }
      guard reads.isOpened, let kind = versions[key.row].use(reads, isAllTold: isAllTold) else { continue }
      result[key.group, default: .init()].count(kind)
    }
    for version in versions {
      if case .group(let group) = version.reader, let kind = version.use(version.reads, isAllTold: isAllTold) {
        result[Int(group), default: .init()].count(kind)
      }
      guard let group = version.group else { continue }
      if version.isNeedless(isAllTold: isAllTold) { result[group, default: .init()].addNeedless(version.local) }
      // Nobody is known to have read it: who had it fetched may have.
      if !version.reads.isOpened, let kind = version.use(version.reads, isAllTold: isAllTold) {
        result[group, default: .init()].count(kind)
      }
    }
    return result
  }

  /// One row for each version of a file that was tried or opened; none if they are not kept.
  func table(isAllTold: Bool) -> FileTable {
    guard var details else { return FileTable() }
    var versions = versions
    let names = directories.names
    if !names.isEmpty {
      for row in details.callDirectories(names) { versions[row].isSuperseded = true }
    }
    return FileTable(versions: versions, details: details, isAllTold: isAllTold)
  }
}
