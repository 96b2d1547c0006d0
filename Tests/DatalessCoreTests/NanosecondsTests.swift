import DatalessCore
import Testing

/// Sums of spans that come from scenarios and logs end where Int64 does, instead of trapping.
@Suite struct NanosecondsTests {
  @Test func sumsStopAtTheEnds() {
    #expect(Nanoseconds.max + 1 == .max)
    #expect(Nanoseconds(.min) + -1 == Nanoseconds(.min))
    #expect(Nanoseconds(.min) - 1 == Nanoseconds(.min))
    #expect(Nanoseconds.max - -1 == .max)
    #expect(Nanoseconds(5) + 7 == 12 && Nanoseconds(5) - 7 == -2)
  }

  @Test func productsStopAtTheEnds() {
    #expect(Int64.max * Nanoseconds(2) == .max && Int64.min * Nanoseconds(2) == Nanoseconds(.min))
    #expect(Int64.max * Nanoseconds(-2) == Nanoseconds(.min) && Int64.min * Nanoseconds(-2) == .max)
    #expect(Nanoseconds.seconds(.max) == .max && Nanoseconds.milliseconds(-3) == -3_000_000)
    #expect(Nanoseconds.microseconds(2) == 2_000)
  }

  @Test func aMomentPlusASpanIsNoEarlierMoment() {
    #expect(MonotonicTime(nanoseconds: .max) + 1 == MonotonicTime(nanoseconds: .max))
    #expect(MonotonicTime(nanoseconds: 5) + .max == MonotonicTime(nanoseconds: .max))
    #expect(MonotonicTime(nanoseconds: 7) - MonotonicTime(nanoseconds: 5) == 2)
    #expect(MonotonicTime(nanoseconds: .max) - MonotonicTime(nanoseconds: -1) == .max)
  }

  @Test func spansAreOrderedByTheirLength() {
    #expect(Nanoseconds.zero < 1 && Nanoseconds.max > .seconds(1))
    #expect(Nanoseconds.milliseconds(1).duration == .milliseconds(1))
  }
}
