public import DatalessCore

/// A latency model with a name, drawn from numbers that somebody published.
public struct LatencyPreset: Sendable {
  public let name: String
  public let model: LatencyModel
  /// What it stands for, and its numbers, in one sentence.
  public let summary: String
  /// Where the numbers come from, and what was added to them.
  public let source: String

  private init(
    _ name: String, _ distribution: LatencyModel.Distribution, floor: Nanoseconds? = nil, perMebibyte: Nanoseconds = 0,
    summary: String, source: String
  ) {
    var model = LatencyModel(distribution)
    model.floor = floor
    model.perMebibyte = perMebibyte
    self.name = name
    self.model = model
    self.summary = summary
    self.source = source
  }

  private static let ms = Nanoseconds.milliseconds(1)

  public static let all: [LatencyPreset] = [
    LatencyPreset(
      "icloud_small", .uniform(500 * ms, 2000 * ms),
      summary: "A small file of iCloud Drive: 0.5 to 2 s, evenly spread.",
      source: "Measured on macOS 26: evicted files of 1 to 608 bytes took 0.7 to 2 s to read "
        + "(cassiocassio/iCloud-wizzard-behind-the-curtain, results of 2026-09-04; atomantic/PortOS pull request 3714). "
        + "The lower end is rounded down."),
    LatencyPreset(
      "icloud", .uniform(500 * ms, 2000 * ms), perMebibyte: 60 * ms,
      summary: "A file of iCloud Drive of any size: 0.5 to 2 s, and 60 ms for each MiB.",
      source:
        "As icloud_small; the slope from files of 106 and 180 MB that blocked for 2.6 and 12.3 s (notes of an audio "
        + "player's developers on macOS 27), which is 26 and 72 ms for each MiB: a share nearer the slower one."),
    LatencyPreset(
      "onedrive", .uniform(200 * ms, 700 * ms),
      summary: "A file of up to 2 MB of OneDrive: 0.2 to 0.7 s, evenly spread.",
      source: "Measured on macOS 15.7.9 with OneDrive as File Provider: 27 bytes in 0.48 s, 2 MB in 0.16 to 0.66 s "
        + "(report 'C14 - OneDrive File Provider'). Rounded to tenths."),
    LatencyPreset(
      "dropbox", .uniform(500 * ms, 1000 * ms), perMebibyte: 47 * ms,
      summary: "A file of Dropbox: 0.5 to 1 s, and 47 ms for each MiB.",
      source:
        "One measurement: reading 64 KB of a 72 MB Dropbox file on macOS 27 blocked for 4.0 s, the whole file became "
        + "local (notes of an audio player's developers). The share that does not depend on the size is an assumption."),
    LatencyPreset(
      "s3", .logNormal(median: 150 * ms, p99: 500 * ms), floor: 30 * ms, perMebibyte: 12 * ms,
      summary: "An object of Amazon S3: median 150 ms, 99th percentile 500 ms, and 12 ms for each MiB.",
      source:
        "Amazon S3 User Guide, 'Best practices design patterns: optimizing Amazon S3 performance': small objects and "
        + "first bytes in roughly 100 to 200 ms, one connection carries about 85 to 90 MB/s. The 99th percentile is an "
        + "assumption."),
    LatencyPreset(
      "mobile", .logNormal(median: 300 * ms, p99: 1500 * ms), floor: 150 * ms, perMebibyte: 5243 * ms,
      summary:
        "A slow mobile connection: at least 150 ms, median 300 ms, 99th percentile 1.5 s, and 5.2 s for each MiB.",
      source:
        "Lighthouse, docs/throttling.md, preset for mobile networks ('Slow 4G'): 150 ms per round trip, 1.6 Mbit/s "
        + "down. A request is taken as two round trips; the 99th percentile is an assumption."),
    LatencyPreset(
      "lan", .logNormal(median: 1 * ms, p99: 5 * ms), perMebibyte: 9 * ms,
      summary: "A file server in the same building: median 1 ms, 99th percentile 5 ms, and 9 ms for each MiB.",
      source: "An assumption: gigabit Ethernet carries about 118 MB/s, which is 9 ms for each MiB."),
  ]

  public static func named(_ name: String) -> LatencyPreset? { all.first { $0.name == name } }
}
