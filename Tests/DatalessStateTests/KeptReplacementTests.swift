import DatalessCore
@testable import DatalessState
import Glibc
import Testing

/// What was set on a file whose place another one takes in SOURCE, as whoever saves by a rename does it.
@Suite struct KeptReplacementTests {
  private let source = Scratch("source")
  private let states = StateCopies()

  private func expectAllOfIt(_ volume: KeptVolume, _ content: String, _ round: String) {
    #expect(volume.attribute("user.note", of: "d/p") == "keep", "\(round)")
    #expect(volume.attribute("user.com.apple.MobileBackup", of: "d/p") == "1", "\(round)")
    #expect(volume.engine.policiesOfTheirOwn.map { $0.1 } == [.eager], "\(round)")
    #expect(volume.read("d/p") == content, "\(round)")
  }

  @Test(arguments: [false, true], [false, true])
  func whatWasSetGoesWithTheName(isMounted: Bool, isFetched: Bool) throws {
    mkdir(source.full("d"), 0o755)
    source.write("d/p", bytes("first"))
    var volume = try KeptVolume(states.next(), source: source)
    if isFetched { _ = volume.read("d/p") }
    volume.setAttribute("user.note", to: "keep", of: "d/p")
    volume.setAttribute("user.com.apple.MobileBackup", to: "1", of: "d/p")
    #expect(volume.engine.setPolicy(.eager, of: volume.node("d/p")) == nil)
    volume.run()
    func replace(_ text: String) {
      source.write("d/p.new", bytes(text))
      rename(source.full("d/p.new"), source.full("d/p"))
    }
    if isMounted {
      replace("second one")
      volume.refresh()
      expectAllOfIt(volume, "second one", "refreshed")
    }
    try volume.unmount()
    // What is left of the first one is removed at the next mount: no damage.
    #expect(try states.next().check().damages == 0)
    if !isMounted { replace("second one") }
    for round in 0..<3 {
      volume = try KeptVolume(states.next(), source: source)
      _ = volume.names("d")
      expectAllOfIt(volume, "second one", "round \(round)")
      try volume.unmount()
      let report = try states.next().check()
      #expect(report.damages == 0 && (round == 0 || report.findings == []), "round \(round)")
    }
  }
}
