import Testing

@testable import FuseKit

struct ValueTests {
  @Test func timeoutsFromDurations() {
    #expect(CacheTimeout(.milliseconds(1500)) == CacheTimeout(seconds: 1, nanoseconds: 500_000_000))
    #expect(CacheTimeout(.nanoseconds(1)) == CacheTimeout(seconds: 0, nanoseconds: 1))
    #expect(CacheTimeout(.zero) == .none)
    #expect(CacheTimeout(.seconds(-1)) == .none)
    #expect(CacheTimeout(.milliseconds(-1)) == .none)
  }

  @Test func namesAreComparedAsBytes() {
    let name: [UInt8] = [0x61, 0xFF]
    name.withUnsafeBufferPointer {
      #expect(FuseName(bytes: $0).copy() == name)
      #expect(!FuseName(bytes: $0).equals("a"))
    }
    Array("abc".utf8).withUnsafeBufferPointer {
      #expect(FuseName(bytes: $0).equals("abc"))
      #expect(!FuseName(bytes: $0).equals("abcd"))
      #expect(FuseName(bytes: $0).count == 3)
    }
  }

  @Test func requestKindsAreTheOpcodesOfTheProtocol() {
    #expect(FuseRequestKind.lookup.rawValue == 1)
    #expect(FuseRequestKind.read.rawValue == 15)
    #expect(FuseRequestKind.initialize.rawValue == 26)
    #expect(FuseRequestKind.readdirplus.rawValue == 44)
    #expect(FuseRequestKind.copyFileRange.rawValue == 47)
    #expect(FuseRequestKind.allCases.allSatisfy { $0.rawValue < 64 })
  }
}
