/// Directories whose listings were waited for one below the other: what a walk from the root to a path costs.
///
/// Memory: some 40 bytes for each directory that was materialized.
struct DirectoryChains: Sendable {
  /// By the key that the path of the last directory has in `RenamedDirectories`.
  private var chains: [UInt64: (length: Int64, durationNanoseconds: Int64)] = [:]
  /// The one with the most directories; of several the one that took longest.
  private(set) var longest: SummaryReport.Chain?

  mutating func materialized(
    _ path: [UInt8], in directories: RenamedDirectories, durationNanoseconds: Int64
  ) {
    var chain = (length: Int64(1), durationNanoseconds: durationNanoseconds)
    if !path.isEmpty {
      let parent = path.lastIndex(of: PathBytes.slash).map { Array(path[..<$0]) } ?? []
      if let above = chains[directories.key(of: parent)] {
        chain = (above.length + 1, above.durationNanoseconds.plus(durationNanoseconds))
      }
    }
    chains[directories.key(of: path)] = chain
    let most = longest.map { ($0.length, $0.durationNanoseconds) } ?? (0, 0)
    if (chain.length, chain.durationNanoseconds) > most {
      let (text, base64) = SummaryReport.split(path)
      longest = SummaryReport.Chain(
        length: chain.length, path: text, pathBase64: base64, durationNanoseconds: chain.durationNanoseconds)
    }
  }

  /// - Parameters:
  ///   - old: The key of the path that the directory had.
  ///   - new: Of the one that it has now.
  mutating func rename(from old: UInt64, to new: UInt64) {
    if let chain = chains.removeValue(forKey: old) { chains[new] = chain }
  }

  /// Two paths have each other's directories.
  mutating func exchange(_ one: UInt64, _ other: UInt64) {
    let (here, there) = (chains[one], chains[other])
    (chains[one], chains[other]) = (there, here)
  }
}

extension SummaryReport {
  /// A path as reports write it: `.` for the root of the volume.
  static func text(_ path: [UInt8]) -> String { path.isEmpty ? "." : String(decoding: path, as: UTF8.self) }

  /// The same, and beside it the bytes in base64 when they are not UTF-8.
  static func split(_ path: [UInt8]) -> (text: String, base64: String?) {
    path.isEmpty ? (".", nil) : WirePath.split(path)
  }
}

/// A row of a summary that is about one path.
protocol SummaryPlace {
  var path: String { get }
  var pathBase64: String? { get }
}

extension SummaryPlace {
  /// The bytes of the path.
  var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}

extension SummaryReport.Chain: SummaryPlace {}
extension SummaryReport.Excess: SummaryPlace {}
extension SummaryReport.IntentWait: SummaryPlace {}
extension SummaryReport.SlowPresenter: SummaryPlace {}
extension SummaryReport.TopLevel: SummaryPlace {
  init(_ name: [UInt8]) {
    let (path, base64) = WirePath.split(name)
    self.init(path: path, pathBase64: base64)
  }
}
extension SummaryReport.Waiting: SummaryPlace {}
