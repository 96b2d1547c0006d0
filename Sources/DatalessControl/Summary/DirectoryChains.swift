/// Directories whose listings were waited for one below the other: what a walk from the root to a path costs.
///
/// Memory: some 40 bytes for each directory that was materialized.
struct DirectoryChains: Sendable {
  /// By the hash of the path of the last directory.
  private var chains: [UInt64: (length: Int64, durationNanoseconds: Int64)] = [:]
  /// The one with the most directories; of several the one that took longest.
  private(set) var longest: SummaryReport.Chain?

  mutating func materialized(_ path: [UInt8], durationNanoseconds: Int64) {
    var chain = (length: Int64(1), durationNanoseconds: durationNanoseconds)
    if !path.isEmpty {
      let parent = path.lastIndex(of: PathBytes.slash).map { path[..<$0] } ?? []
      if let above = chains[PathHash.of(parent)] {
        chain = (above.length + 1, above.durationNanoseconds.plus(durationNanoseconds))
      }
    }
    chains[PathHash.of(path)] = chain
    let most = longest.map { ($0.length, $0.durationNanoseconds) } ?? (0, 0)
    if (chain.length, chain.durationNanoseconds) > most {
      longest = SummaryReport.Chain(
        length: chain.length, path: SummaryReport.text(path), durationNanoseconds: chain.durationNanoseconds)
    }
  }

  /// - Parameters:
  ///   - old: The hash of the path that the directory had.
  ///   - new: Of the one that it has now.
  mutating func rename(from old: UInt64, to new: UInt64) {
    if let chain = chains.removeValue(forKey: old) { chains[new] = chain }
  }
}

extension SummaryReport {
  /// A path as reports write it: `.` for the root of the volume.
  static func text(_ path: [UInt8]) -> String { path.isEmpty ? "." : String(decoding: path, as: UTF8.self) }
}
