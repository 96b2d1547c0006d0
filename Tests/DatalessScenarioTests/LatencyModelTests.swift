import DatalessCore
import DatalessScenario
import Testing

/// What the distributions promise, over 100,000 delays each.
@Suite struct LatencyModelTests {
  private static let ms = Nanoseconds.milliseconds(1)

  private static func samples(_ model: LatencyModel, seed: UInt64 = 7, size: Int64 = 0) -> [Nanoseconds] {
    (0..<100_000).map { index in
      var random = SeededRandom(seed: seed, .latency, rule: "", path: Array("f\(index)".utf8), attempt: 1)
      return model.sample(&random, size: size, ordinal: UInt64(index))
    }.sorted()
  }

  private static func isNear(_ value: Nanoseconds, _ wanted: Double) -> Bool {
    abs(Double(value.rawValue) - wanted) <= wanted * 0.02
  }

  private static let table = LatencyModel.Distribution.table([
    .init(percent: 0, delay: 10 * ms), .init(percent: 50, delay: 100 * ms),
    .init(percent: 99, delay: 2000 * ms), .init(percent: 100, delay: 2100 * ms),
  ])

  @Test(
    arguments: [
      (.fixed(200 * ms), 200, 200), (.uniform(100 * ms, 300 * ms), 200, 298),
      (.normal(mean: 500 * ms, deviation: 50 * ms), 500, 616.3),
      (.logNormal(median: 150 * ms, p99: 500 * ms), 150, 500), (table, 100, 2000),
      (.replay([100 * ms, 200 * ms, 300 * ms]), 200, 300),
    ] as [(LatencyModel.Distribution, Double, Double)])
  func medianAndP99AreWithinTwoPercent(distribution: LatencyModel.Distribution, median: Double, p99: Double) {
    let delays = Self.samples(LatencyModel(distribution))
    let found = (delays[50_000], delays[99_000])
    print("\(distribution): median \(Double(found.0.rawValue) / 1e6) ms, p99 \(Double(found.1.rawValue) / 1e6) ms")
    #expect(Self.isNear(found.0, median * 1e6))
    #expect(Self.isNear(found.1, p99 * 1e6))
    #expect(delays[0] >= 0)
  }

  @Test func theSameSeedGivesTheSameDelaysAndAnotherOneOthers() {
    let model = LatencyModel(.logNormal(median: Self.ms, p99: 5 * Self.ms))
    #expect(Self.samples(model) == Self.samples(model))
    #expect(Self.samples(model) != Self.samples(model, seed: 8))
  }

  @Test func sizeFloorAndCeilingAreApplied() {
    var model = LatencyModel(.fixed(Self.ms))
    model.perMebibyte = 10 * Self.ms
    var random = SeededRandom(key: 1)
    #expect(model.sample(&random, size: 3 << 20, ordinal: 0) == 31 * Self.ms)
    model.ceiling = 20 * Self.ms
    #expect(model.sample(&random, size: 3 << 20, ordinal: 0) == 20 * Self.ms)
    model.floor = 5 * Self.ms
    #expect(model.sample(&random, size: 0, ordinal: 0) == 5 * Self.ms)
  }

  @Test func aReplayBeginsWithItsFirstDelayAndStartsOver() {
    let model = LatencyModel(.replay([10, 20, 30]))
    var random = SeededRandom(key: 1)
    let delays = (0..<5 as Range<UInt64>).map { model.sample(&random, size: 0, ordinal: $0) }
    #expect(delays == [10, 20, 30, 10, 20])
  }

  @Test func presetsAreWhatTheirSummariesSay() {
    for preset in LatencyPreset.all {
      let delays = Self.samples(preset.model)
      print(
        "\(preset.name): median \(delays[50_000].rawValue / 1_000_000) ms, p99 \(delays[99_000].rawValue / 1_000_000) ms"
      )
      #expect(!preset.source.isEmpty && preset.source.hasSuffix("."))
      if case .logNormal(let median, let p99) = preset.model.distribution {
        #expect(Self.isNear(delays[50_000], Double(median.rawValue)))
        #expect(Self.isNear(delays[99_000], Double(p99.rawValue)))
      }
    }
  }
}
