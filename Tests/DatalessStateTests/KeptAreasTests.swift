import DatalessCore
@testable import DatalessState
import SystemPackage
import Testing

/// The areas of a volume are kept as the scenario says them, until another one does.
@Suite struct KeptAreasTests {
  private let fixture = StateFixture()

  private func kept() throws -> [UInt8]? {
    var areas: [UInt8]?
    try fixture.run { volume in areas = try volume.keptAreas() }
    return areas
  }

  @Test func theLastOnesCount() throws {
    #expect(try kept() == nil)
    for text in ["\"ios\"", "[]", "[{\"path\":\"tmp\",\"category\":\"temporary\"}]"] {
      try fixture.run { volume in try volume.keepAreas(bytes(text)) }
      #expect(try kept() == bytes(text))
    }
    try fixture.run { volume in try volume.keepAreas(nil) }
    #expect(try kept() == nil)
    #expect(try fixture.check().findings == [])
  }

  @Test func damagedOnesAreForgottenByCheck() throws {
    try fixture.run { volume in try volume.keepAreas(bytes("\"ios\"")) }
    try StateCheckTests.edit(fixture, "UPDATE setting SET value = x'00' WHERE name = 'areas'")
    try fixture.run { volume in
      #expect(thrown { () throws(FSError) in _ = try volume.keptAreas() }?.errno == .ioError)
    }
    #expect(try fixture.check().findings.map(\.kind) == [.damagedRow])
    #expect(try kept() == nil)
  }

  @Test func theyHaveALimit() throws {
    try fixture.run { volume in
      let large = [UInt8](repeating: 0x20, count: (1 << 20) + 1)
      #expect(thrown { () throws(FSError) in try volume.keepAreas(large) }?.errno == .fileTooLarge)
    }
  }
}
