import DatalessControl
import Testing

/// A trace in Chrome's JSON format, read back and held against what the format says.
struct Trace {
  struct Span: Equatable {
    var category: String
    var process: Int64
    var thread: Int64
    /// Nanoseconds.
    var start: Int64
    var duration: Int64
  }

  /// A beginning and its end, of what may overlap with others on its track.
  struct Pair {
    var id: Int64
    var process: Int64
    var track: Int64
    var name: String
    /// Nanoseconds.
    var start: Int64
    var duration: Int64
    /// Of the beginning.
    var arguments: JSONObject?
  }

  let text: String
  private let events: [JSONObject]

  init(_ text: String) throws {
    self.text = text
    let json = try #require(JSONObject(Array(text.utf8)), "the trace is no JSON")
    events = json.objects("traceEvents")
    for event in events {
      let phase = try #require(event.string("ph"))
      #expect(["X", "M", "b", "e", "i"].contains(phase))
      #expect(event.integer("pid") != nil && event.integer("tid") != nil && event.string("name") != nil)
      if phase != "M" { #expect(event.raw("ts") != nil) }
      if phase == "X" { #expect(event.raw("dur") != nil) }
      if phase == "b" || phase == "e" { #expect(event.integer("id") != nil) }
    }
    try checkTracks()
    for category in Set(events.compactMap { $0.string("cat") }) { _ = try pairs(category) }
  }

  func spans(_ category: String) -> [Span] {
    events.filter { $0.string("ph") == "X" && $0.string("cat") == category }.compactMap { event in
      guard let process = event.integer("pid"), let thread = event.integer("tid"), let start = event.raw("ts"),
        let duration = event.raw("dur")
      else { return nil }
      return Span(
        category: category, process: process, thread: thread, start: Self.nanoseconds(start),
        duration: Self.nanoseconds(duration))
    }
  }

  /// In the order in which they are written: a beginning, and its end next.
  func pairs(_ category: String) throws -> [Pair] {
    var pairs: [Pair] = []
    var open: JSONObject?
    for event in events where event.string("cat") == category {
      let phase = event.string("ph")
      guard phase == "b" || phase == "e" else { continue }
      if phase == "b" {
        let isFirst = open == nil
        #expect(isFirst, "\(category): two beginnings")
        open = event
        continue
      }
      let begin = try #require(open, "\(category): an end without a beginning")
      open = nil
      for key in ["id", "pid", "tid"] as [StaticString] { #expect(begin.integer(key) == event.integer(key)) }
      #expect(begin.string("name") == event.string("name"))
      let start = Self.nanoseconds(try #require(begin.raw("ts")))
      let end = Self.nanoseconds(try #require(event.raw("ts")))
      #expect(start <= end)
      pairs.append(
        Pair(
          id: try #require(begin.integer("id")), process: try #require(begin.integer("pid")),
          track: try #require(begin.integer("tid")), name: begin.string("name") ?? "", start: start,
          duration: end - start, arguments: begin.object("args")))
    }
    let isClosed = open == nil
    #expect(isClosed, "\(category): a beginning without an end")
    return pairs
  }

  /// What happened at one moment.
  func moments(_ category: String) -> [JSONObject] {
    events.filter { $0.string("ph") == "i" && $0.string("cat") == category }
  }

  func names(of kind: String) -> [String] {
    events.filter { $0.string("name") == kind }.compactMap { $0.object("args")?.string("name") }.sorted()
  }

  /// Spans of one track do not overlap: viewers would drop some.
  private func checkTracks() throws {
    var ends: [[Int64]: Int64] = [:]
    for span in (spans("wait") + spans("access")).sorted(by: { $0.start < $1.start }) {
      let track = [span.process, span.thread]
      #expect(ends[track, default: .min] <= span.start, "\(track) overlaps at \(span.start)")
      ends[track] = span.start + span.duration
    }
  }

  /// `12.345` microseconds.
  private static func nanoseconds(_ text: ArraySlice<UInt8>) -> Int64 {
    let digits = String(decoding: text, as: UTF8.self).split(separator: ".")
    #expect(digits.count == 2 && digits[1].count == 3)
    let whole = (Int64(digits[0].filter { $0 != "-" }) ?? 0) * 1_000 + (Int64(digits.last ?? "") ?? 0)
    return digits[0].hasPrefix("-") ? -whole : whole
  }
}

/// As much of XML 1.0 as our own files need: every element is closed, every reference is one, and no character is
/// forbidden.
enum XMLCheck {
  /// nil when there is none.
  static func problem(in text: String) throws -> String? {
    var open: [Substring] = []
    var rest = text[...]
    if let scalar = text.unicodeScalars.first(where: { !isAllowed($0) }) {
      return "U+\(String(scalar.value, radix: 16))"
    }
    while let less = rest.firstIndex(of: "<") {
      if let bad = reference(rest[..<less]) { return bad }
      guard let end = rest[less...].firstIndex(of: ">") else { return "no end of \(rest[less...].prefix(20))" }
      let tag = rest[rest.index(after: less)..<end]
      rest = rest[rest.index(after: end)...]
      if tag.hasPrefix("?") { continue }
      if let bad = reference(tag) { return bad }
      if tag.count(where: { $0 == "\"" }) % 2 != 0 || tag.contains("<") { return "quotes of \(tag)" }
      if tag.hasPrefix("/") {
        guard open.popLast() == tag.dropFirst() else { return "\(tag) closes another" }
      } else if !tag.hasSuffix("/") {
        open.append(tag.prefix { $0 != " " })
      }
    }
    return open.isEmpty && !rest.contains(">") ? nil : "not closed: \(open)"
  }

  private static func reference(_ text: Substring) -> String? {
    for part in text.split(separator: "&", omittingEmptySubsequences: false).dropFirst() {
      guard let end = part.firstIndex(of: ";") else { return "& in \(part.prefix(20))" }
      let name = part[..<end]
      let isNumber = name.hasPrefix("#") && name.dropFirst().allSatisfy(\.isNumber)
      if !isNumber, !["amp", "lt", "gt", "quot"].contains(name) { return "&\(name);" }
    }
    return nil
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 9, 10, 13, 0x20...0xd7ff, 0xe000...0xfffd, 0x10000...0x10ffff: true
    default: false
    }
  }
}
