import DatalessCore
import DatalessStores
import SystemPackage
import Testing

@Suite struct SyntheticSpecificationTests {
  @Test func defaults() throws {
    let found = try SyntheticSpecification(parsing: "synthetic:")
    #expect(found == SyntheticSpecification())
    #expect(found.files == 1000 && found.depth == 2 && found.sizes == 4096...65536 && found.seed == 1)
  }

  @Test func everyPart() throws {
    let text = "synthetic:files=1000000,depth=3,size=4k..1m,seed=7"
    let found = try SyntheticSpecification(parsing: text)
    #expect(found.files == 1_000_000 && found.depth == 3 && found.sizes == 4096...(1 << 20) && found.seed == 7)
    #expect(found.description == text)
    #expect(try SyntheticSpecification(parsing: found.description) == found)
  }

  @Test(arguments: [
    ("size=4k", 4096, 4096), ("size=0", 0, 0), ("size=1.5k..2KiB", 1536, 2048), ("size=0..1B", 0, 1),
    ("size=10MB", 10_000_000, 10_000_000), ("size=8t", 8 << 40, 8 << 40),
  ])
  func sizes(part: String, low: Int64, high: Int64) throws {
    #expect(try SyntheticSpecification(parsing: "synthetic:\(part)").sizes == low...high)
  }

  @Test(arguments: [
    ("files=0", "0 is not within 1 to 100000000"), ("files=100000001", "not within"), ("files=many", "'many' is not"),
    ("files=-1", "'-1' is not a whole number"), ("depth=17", "17 is not within 0 to 16"), ("depth", "has no value"),
    ("size=", "it is empty"), ("size=4k..1m..2m", "more than two sizes"), ("size=1m..4k", "larger than the second"),
    ("size=9t", "larger than 8 TiB"), ("size=4q", "unknown unit 'q'"), ("colour=red", "'colour' is unknown"),
    ("seed=1,seed=2", "'seed' is given twice"), ("size=4k..", "it is empty"), ("size=..4k", "it is empty"),
    ("seed=18446744073709551616", "is not a whole number"),
  ])
  func malformed(part: String, reason: String) {
    let error = thrown { () throws(FSError) in _ = try SyntheticSpecification(parsing: "synthetic:\(part)") }
    #expect(error?.errno == .invalidArgument)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "accepted")")
    #expect(error?.message.contains("part '") == true)
  }

  @Test func recognition() {
    #expect(SyntheticSpecification.isSpecification("synthetic:files=x"))
    #expect(!SyntheticSpecification.isSpecification("./synthetic:"))
  }
}
