import HTTPTypes
import TestSupport
import Testing

@testable import DatalessControl
@testable import DatalessDaemon

/// Bodies and queries of requests: understood, or refused with what is wrong.
@Suite struct RequestFuzzTests {
  private static func decode<Body: WireRequest & Codable & Equatable>(
    _ type: Body.Type, _ text: [UInt8], _ note: Fuzz.Case
  ) throws {
    do throws(ControlError) {
      let body = try WireCoding.decode(StrictRequest<Body>.self, from: text, named: "the request").body
      let again = try WireCoding.decode(StrictRequest<Body>.self, from: WireCoding.encode(body), named: "it").body
      #expect(again == body, "\(note)")
    } catch {
      #expect(error.code == .malformed && error.message.hasPrefix("cannot understand "), "\(note)")
      #expect(isSafe(error.message), "\(note): \(TerminalText.escaped(error.message))")
    }
  }

  @Test(arguments: TestSeed.seeds) func bodiesAreUnderstoodOrRefused(seed: UInt64) throws {
    let names = [
      "PathsRequest", "EvictRequest", "InterruptRequest", "MarkRequest", "RunFinishedRequest", "GateRequest",
      "GateReleaseRequest", "GateWaitRequest", "SettingsRequest", "RuleRequest",
    ]
    let samples = try names.map { name in
      let sample = try #require(WireSamples.all[name], "no sample of \(name)")
      return try #require(FuzzSamples.node(sample.full))
    }
    try Fuzz.run("request bodies", seed: seed, cases: 250) { random, note in
      let kind = random.below(samples.count)
      let text = JSONMutation.mutated(samples[kind], &random, others: samples)
      switch kind {
      case 0: try Self.decode(PathsRequest.self, text, note)
      case 1: try Self.decode(EvictRequest.self, text, note)
      case 2: try Self.decode(InterruptRequest.self, text, note)
      case 3: try Self.decode(MarkRequest.self, text, note)
      case 4: try Self.decode(RunFinishedRequest.self, text, note)
      case 5: try Self.decode(GateRequest.self, text, note)
      case 6: try Self.decode(GateReleaseRequest.self, text, note)
      case 7: try Self.decode(GateWaitRequest.self, text, note)
      case 8: try Self.decode(SettingsRequest.self, text, note)
      default: try Self.decode(RuleRequest.self, text, note)
      }
    }
  }

  @Test(arguments: TestSeed.seeds) func queriesAreUnderstoodOrRefused(seed: UInt64) throws {
    let samples = [
      "path=a/b&recursive=1&limit=5&after=x", "path_b64=/w==", "path=%ff", "path=a%2Fb%00&pid=7&trigger=read",
      "name=a+b",
      "&&=&a", "limit=18446744073709551616",
    ].map { bytes($0) }
    let mutation = TextMutation(
      separators: "&=%", words: ["path", "path_b64", "limit", "after", "recursive", "name", "pid"])
    try Fuzz.run("queries", seed: seed, cases: 250) { random, note in
      let text = mutation.mutated(random.element(of: samples), &random)
      let route = random.element(of: ControlRoute.allCases)
      do throws(ControlFailure) {
        let query = try RequestQuery(String(decoding: text, as: UTF8.self), of: route)
        for name in ["after", "limit", "name", "trigger", "pid", "recursive"] {
          #expect(query[name] == nil || route.queryParameters.contains(name), "\(note)")
        }
        if let path = try? query.path() {
          #expect(!path.split(separator: 0x2f).contains { $0.elementsEqual("..".utf8) }, "\(note)")
        }
      } catch {
        #expect(error.status == 400 && error.errno == "EINVAL" && isSafe(error.message), "\(note): \(error)")
      }
      // What the client writes, the server reads.
      let path = ByteMutation.mutated(bytes("a/b c"), &random).filter { $0 != 0 }
      let encoded = "path=" + PercentEncoding.encode(Array(String(decoding: path, as: UTF8.self).utf8))
      let query = try RequestQuery(encoded, of: .items)
      #expect(query["path"] == String(decoding: path, as: UTF8.self), "\(note)")
    }
  }
}
