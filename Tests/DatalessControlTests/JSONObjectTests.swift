import Testing

@testable import DatalessControl

@Suite struct JSONObjectTests {
  @Test func readsFieldsWithoutDecodingTheRest() throws {
    let text = #" {"a":1,"b":"x\"\\\u00e9\ud83d\ude00\n","c":[1,{"d":[]},-3],"e":{"f":true},"g":null,"h":-7,"i":1.5} "#
    let json = try #require(JSONObject(bytes(text)))
    #expect(json.integer("a") == 1)
    #expect(json.string("b") == "x\"\\\u{e9}\u{1f600}\n")
    #expect(json.integers("c") == [1, -3])
    #expect(json.objects("c").count == 1)
    #expect(json.object("e")?.bool("f") == true)
    #expect(json.integer("g") == nil)
    #expect(json.integer("h") == -7)
    #expect(json.integer("i") == nil)
    #expect(json.raw("i").map { Array($0) } == bytes("1.5"))
    #expect(json.raw("missing") == nil)
    #expect(json.string("a") == nil)
  }

  @Test func largeNumbers() throws {
    let json = try #require(
      JSONObject(bytes(#"{"a":18446744073709551615,"b":9223372036854775807,"c":99999999999999999999}"#)))
    #expect(json.unsigned("a") == .max)
    #expect(json.integer("a") == nil)
    #expect(json.integer("b") == .max)
    #expect(json.unsigned("c") == nil)
  }

  @Test func namesThatAreNotUTF8() throws {
    let json = try #require(JSONObject(bytes(#"{"path":"a\ufffd","path_b64":"Yf8=","exe":"/bin/x","exe_b64":"!"}"#)))
    #expect(json.path == [0x61, 0xff])
    #expect(json.name("exe", "exe_b64") == bytes("/bin/x"))
  }

  @Test func loneSurrogatesBecomeReplacementCharacters() throws {
    let json = try #require(JSONObject(bytes(#"{"a":"\ud83dx","b":"\udc00","c":"\u12"}"#)))
    #expect(json.string("a") == "\u{fffd}x")
    #expect(json.string("b") == "\u{fffd}")
    #expect(json.string("c") == "\u{fffd}12")
  }

  @Test(arguments: [
    "", "{", "{}x", "[]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":\"x}", "{\"a\":[1,}", "{\"a\":{\"b\":1}", "null",
    "{a:1}", "{\"a\":\"\n\"}",
  ])
  func refusesWhatIsNoObject(text: String) { #expect(JSONObject(bytes(text)) == nil) }

  @Test func deepNestingEnds() {
    let deep = "{\"a\":" + String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000) + "}"
    #expect(JSONObject(bytes(deep)) == nil)
    #expect(
      JSONObject(bytes("{\"a\":" + String(repeating: "[", count: 40) + String(repeating: "]", count: 40) + "}")) != nil)
  }

  @Test func theLeastAndTheGreatestNumber() throws {
    let object = try #require(
      JSONObject(bytes(#"{"a":-9223372036854775808,"b":9223372036854775807,"c":-9223372036854775809,"d":-0}"#)))
    #expect(object.integer("a") == .min && object.integer("b") == .max && object.integer("c") == nil)
    #expect(object.integer("d") == 0)
  }
}
