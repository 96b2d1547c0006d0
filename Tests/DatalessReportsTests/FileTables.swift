@testable import DatalessControl

/// Tables of files without a log.
enum FileTables {
  /// Files of ten bytes that were materialized, each of which was waited for once, a nanosecond longer than for the one
  /// before.
  static func waited(_ count: Int, longer: Int64 = 0, path: (Int) -> String) -> FileTable {
    var files = SummaryFiles(keepsFiles: true)
    for number in 0..<count {
      let name = Array(path(number).utf8)
      let row = files.started(name, names: [], size: 10, isFile: true, handle: nil, by: nil)
      _ = files.materializedFile(name, row: row, bytes: 10, group: nil, part: nil, isDone: true)
      files.waited(row, name, nanoseconds: Int64(number) + longer, isUnderWay: false)
    }
    return files.table(isAllTold: true)
  }

  /// One file with several names.
  static func named(_ path: String, _ names: [String]) -> FileTable {
    var files = SummaryFiles(keepsFiles: true)
    let (name, names) = (Array(path.utf8), names.map { Array($0.utf8) })
    let row = files.started(name, names: names, size: 10, isFile: true, handle: nil, by: nil)
    _ = files.materializedFile(name, row: row, bytes: 10, group: nil, part: nil, isDone: true)
    return files.table(isAllTold: true)
  }
}
