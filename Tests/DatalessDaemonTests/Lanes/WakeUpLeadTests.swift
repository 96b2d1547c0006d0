import DatalessCore
import Testing

@testable import DatalessDaemon

@Suite struct WakeUpLeadTests {
  @Test func itBecomesWhatWakeUpsTake() {
    var lead = WakeUpLead()
    #expect(lead.time(before: MonotonicTime(nanoseconds: 1_000_000)) == MonotonicTime(nanoseconds: 1_000_000))
    for _ in 0..<100 { lead.note(late: .microseconds(115)) }
    #expect(lead.lead > .microseconds(114) && lead.lead <= .microseconds(115))
    #expect(lead.time(before: MonotonicTime(nanoseconds: 1_000_000)).nanoseconds == 1_000_000 - lead.lead.rawValue)
    for _ in 0..<100 { lead.note(late: 0) }
    #expect(lead.lead < .microseconds(1))
  }

  @Test func aThreadThatWaitsForAProcessorDoesNotLingerForIt() {
    var lead = WakeUpLead()
    for _ in 0..<100 { lead.note(late: .seconds(1)) }
    #expect(lead.lead <= WakeUpLead.most)
    lead.note(late: -1)
    #expect(lead.lead >= 0)
  }

  @Test func whatIsDueBeforeAWakeUpIsWaitedForAwake() {
    var lead = WakeUpLead()
    for _ in 0..<100 { lead.note(late: .microseconds(80)) }
    let now = MonotonicTime(nanoseconds: 5_000)
    #expect(lead.isShort(until: now + .microseconds(70), from: now))
    #expect(!lead.isShort(until: now + .microseconds(90), from: now))
  }
}
