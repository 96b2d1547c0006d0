import DatalessControl

/// The files of a page.
extension PageData {
  /// What is added up of files that are not shown.
  private struct Sum {
    var files: Int64 = 0
    var fetched: Int64 = 0
    var read: Int64 = 0
    var blocked: Int64 = 0
    var waits: Int64 = 0
  }

  mutating func files(_ json: inout JSONBuffer) {
    let files = report.files
    let isCut = files.count > Self.filesMax
    // Who shows a part shows what somebody waited for longest.
    let shown = files.first(Self.filesMax, by: isCut ? .blocked : .needless)
    json.key("files")
    json.array { json in
      for row in shown {
        let file = files[row]
        json.array { json in
          json.integer(texts.text(PathText.of(file.pathBytes)))
          for number in [file.size, file.bytes, file.readBytes] { json.integer(number) }
          json.integer(file.readShare.map { Int64(max(0, min(1, $0)) * 1_000) } ?? -1)
          json.integer(texts.text(file.use ?? ""))
          json.integer(file.isNeedless ? 1 : 0)
          json.integer(file.isSuperseded ? 1 : 0)
          for number in [file.blocked.sumNanoseconds, file.blocked.waits, file.materializations] {
            json.integer(number)
          }
          json.integer(texts.text(Self.processes(file)))
        }
      }
    }
    rest(isCut ? Set(shown) : nil, &json)
    if isCut {
      notes.append(
        "The tables and the tree have the \(HumanText.count(Int64(Self.filesMax))) files of "
          + "\(HumanText.count(Int64(files.count))) for which callers "
          + "waited longest; the tree adds up the others.")
    }
  }

  /// Files that are not shown, added up by their directory, or where there are too many of these, altogether.
  ///
  /// - Parameter shown: The rows of the others; nil if all are shown.
  private mutating func rest(_ shown: Set<Int>?, _ json: inout JSONBuffer) {
    var sums: [Int: Sum] = [:]
    var other = Sum()
    if let shown { (sums, other) = Self.rest(of: report.files, without: shown) }
    var rows = sums.map { (PathText.of(report.files.directoryPath($0.key)), $0.value) }.sorted { $0.0 < $1.0 }
    // What is in no directory of its own comes with what is in the root.
    if other.files > 0 { rows.append((PathText.of([]), other)) }
    json.key("rest")
    json.array { json in
      for (directory, sum) in rows {
        json.array { json in
          json.string(directory)
          for number in [sum.files, sum.fetched, sum.read, sum.blocked, sum.waits] { json.integer(number) }
        }
      }
    }
    guard other.files > 0 else { return }
    notes.append(
      "Of the files that the tree adds up, \(HumanText.count(other.files)) are in directories beyond the first "
        + "\(HumanText.count(Int64(Self.restMax))): they are added up at the root.")
  }

  /// - Returns: Sums by the number of the directory, and of what is in others.
  private static func rest(of files: FileTable, without shown: Set<Int>) -> (sums: [Int: Sum], other: Sum) {
    var sums: [Int: Sum] = [:]
    var other = Sum()
    files.forEach { row in
      guard !shown.contains(row) else { return }
      let (file, directory) = (files.numbers(row), files.directory(row))
      let isOther = sums[directory] == nil && sums.count >= restMax
      var sum = isOther ? other : sums[directory] ?? Sum()
      sum.files += 1
      sum.fetched = sum.fetched.plus(file.bytes)
      sum.read = sum.read.plus(min(file.read, file.bytes))
      sum.blocked = sum.blocked.plus(file.blocked)
      sum.waits += file.waits
      if isOther { other = sum } else { sums[directory] = sum }
    }
    return (sums, other)
  }

  private static func processes(_ file: FileSummary) -> String {
    let names = file.processes.prefix(2).map { "\(TerminalText.escaped($0.comm ?? "unknown"))[\($0.pid)]" }
    let more = file.processCount - Int64(names.count)
    return names.joined(separator: ", ") + (more > 0 ? " +\(more)" : "")
  }
}
