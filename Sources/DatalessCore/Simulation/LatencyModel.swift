internal import Glibc

/// How long an attempt is delayed before its fetch.
public struct LatencyModel: Sendable, Equatable {
  public enum Distribution: Sendable, Equatable {
    case fixed(Nanoseconds)
    /// Every delay from the first to the second is as likely as any other.
    case uniform(Nanoseconds, Nanoseconds)
    case normal(mean: Nanoseconds, deviation: Nanoseconds)
    /// By its median and its 99th percentile, the two numbers that are usually published.
    case logNormal(median: Nanoseconds, p99: Nanoseconds)
    /// Percentiles from 0 to 100, rising, with the delay at each; straight lines between them.
    case table([Percentile])
    /// The delays of a recorded log, one after the other by the attempts of the volume, then from the start again.
    case replay([Nanoseconds])
  }

  public struct Percentile: Sendable, Equatable {
    public var percent: Double
    public var delay: Nanoseconds

    public init(percent: Double, delay: Nanoseconds) {
      self.percent = percent
      self.delay = delay
    }
  }

  public var distribution: Distribution
  /// Added for each MiB of the file, at least 0. Default 0.
  public var perMebibyte: Nanoseconds = 0
  /// What a delay is at least and at most; nil = no bound. Applied last.
  public var floor: Nanoseconds?
  public var ceiling: Nanoseconds?

  public init(_ distribution: Distribution) { self.distribution = distribution }

  public static let none = LatencyModel(.fixed(0))

  /// Whether every delay is 0.
  public var isZero: Bool { self == .none }

  /// The delay of one attempt, 0 or more.
  ///
  /// - Parameters:
  ///   - size: The file's size in bytes; 0 for a directory.
  ///   - ordinal: The attempt's number on the volume, from 0; only `replay` looks at it.
  public func sample(_ random: inout SeededRandom, size: Int64, ordinal: UInt64) -> Nanoseconds {
    var delay: Double
    switch distribution {
    case .fixed(let value): delay = Double(value.rawValue)
    case .uniform(let low, let high): delay = Double(low.rawValue) + random.unit() * Double((high - low).rawValue)
    case .normal(let mean, let deviation):
      delay = Double(mean.rawValue) + Self.normal(&random) * Double(deviation.rawValue)
    case .logNormal(let median, let p99):
      // 2.326 standard deviations above the mean lies the 99th percentile of a normal distribution.
      let sigma = median > 0 ? log(Double(p99.rawValue) / Double(median.rawValue)) / 2.326_347_874 : 0
      delay = Double(median.rawValue) * exp(Self.normal(&random) * sigma)
    case .table(let percentiles): delay = Self.interpolate(percentiles, random.unit() * 100)
    case .replay(let delays): delay = delays.isEmpty ? 0 : Double(delays[Int(ordinal % UInt64(delays.count))].rawValue)
    }
    delay += Double(perMebibyte.rawValue) * (Double(size) / Double(1 << 20))
    if let ceiling { delay = min(delay, Double(ceiling.rawValue)) }
    if let floor { delay = max(delay, Double(floor.rawValue)) }
    // A century: longer than any test, and far from where sums with a clock overflow.
    return Nanoseconds(Int64(min(max(delay, 0), 3.15e18)))
  }

  /// Box and Muller's way to a standard normal number.
  private static func normal(_ random: inout SeededRandom) -> Double {
    let first = 1 - random.unit()
    let second = random.unit()
    return sqrt(-2 * log(first)) * cos(2 * .pi * second)
  }

  private static func interpolate(_ table: [Percentile], _ percent: Double) -> Double {
    guard var last = table.first else { return 0 }
    if percent <= last.percent { return Double(last.delay.rawValue) }
    for next in table.dropFirst() {
      if percent <= next.percent {
        let width = next.percent - last.percent
        let share = width > 0 ? (percent - last.percent) / width : 1
        return Double(last.delay.rawValue) + share * Double((next.delay - last.delay).rawValue)
      }
      last = next
    }
    return Double(last.delay.rawValue)
  }
}

extension LatencyModel {
  /// The delay of every attempt, if it is the same for all; nil if it depends on anything.
  public var fixedDelay: Nanoseconds? {
    guard case .fixed(let delay) = distribution, perMebibyte == 0 else { return nil }
    return max(min(delay, ceiling ?? .max), floor ?? 0)
  }

  /// The longest delay that is likely: for warnings. A size is not known here.
  public var longestDelay: Nanoseconds {
    let longest: Nanoseconds =
      switch distribution {
      case .fixed(let value): value
      case .uniform(_, let high): high
      case .normal(let mean, let deviation):
        mean + deviation + deviation + deviation
      case .logNormal(_, let p99): p99
      case .table(let percentiles): percentiles.map(\.delay).max() ?? 0
      case .replay(let delays): delays.max() ?? 0
      }
    return max(min(longest, ceiling ?? .max), floor ?? 0)
  }
}

extension LatencyModel.Distribution {
  /// As a scenario names it.
  public var name: String {
    switch self {
    case .fixed: "fixed"
    case .uniform: "uniform"
    case .normal: "normal"
    case .logNormal: "log_normal"
    case .table: "percentiles"
    case .replay: "replay"
    }
  }
}
