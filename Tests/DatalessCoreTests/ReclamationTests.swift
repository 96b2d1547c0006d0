@testable import DatalessCore
import TestSupport
import Testing

@Suite struct ReclamationTests {
  @Test func onePinPutsItOff() {
    var reclamation = Reclamation()
    reclamation.pin()
    reclamation.pin()
    #expect(!reclamation.isDue(true) && !reclamation.begin(true))
    reclamation.unpin()
    #expect(!reclamation.isDue(true) && !reclamation.begin(true))
    reclamation.unpin()
    #expect(reclamation.isDue(true) && !reclamation.isDue(false))
    let begins = reclamation.begin(false)
    #expect(!begins && reclamation.begin(true))
  }

  @Test func oneGivesBackAtATime() {
    var reclamation = Reclamation()
    #expect(reclamation.begin(true) && !reclamation.begin(true) && !reclamation.isDue(true))
    #expect(reclamation.goOn(true) && !reclamation.begin(true))
    // Who takes a pin between two steps ends it, and begins it again.
    reclamation.pin()
    #expect(!reclamation.goOn(true) && !reclamation.begin(true))
    reclamation.unpin()
    #expect(reclamation.begin(true) && !reclamation.goOn(false))
    #expect(reclamation.isDue(true) && reclamation.begin(true))
  }

  @Test(arguments: TestSeed.seeds) func nothingIsGivenBackUnderAPin(_ seed: UInt64) {
    var random = TestRandom(seed: seed)
    var reclamation = Reclamation()
    var (pins, isUnderWay) = (0, false)
    for _ in 0..<5_000 {
      let hasLeftovers = random.below(3) > 0
      switch random.below(4) {
      case 0:
        reclamation.pin()
        pins += 1
      case 1:
        guard pins > 0 else { continue }
        reclamation.unpin()
        pins -= 1
      case 2:
        let begins = pins == 0 && hasLeftovers && !isUnderWay
        #expect(reclamation.isDue(hasLeftovers) == begins && reclamation.begin(hasLeftovers) == begins, "seed \(seed)")
        isUnderWay = isUnderWay || begins
      default:
        guard isUnderWay else { continue }
        isUnderWay = pins == 0 && hasLeftovers
        #expect(reclamation.goOn(hasLeftovers) == isUnderWay, "seed \(seed)")
      }
      #expect(reclamation.pins == pins)
    }
  }
}
