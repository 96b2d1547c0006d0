import FoundationEssentials
import TestSupport

@testable import DatalessControl

/// Valid texts from which generated ones are made.
enum FuzzSamples {
  /// One line of each type, and of each variant that docs/EVENTS.md shows.
  static let logLines: [[UInt8]] = {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/EVENTS.md")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").filter { $0.hasPrefix(#"{"v":1,"#) }.map { Array($0.utf8) }
  }()

  static let logNodes: [JSONNode] = logLines.compactMap { JSONNode($0) }

  /// A session in which things belong together: several records of each attempt, handle, file and process.
  static let session: [[UInt8]] = {
    var log = LogText()
    log.add("volume.mounted", at: 0, #""source":"/s","mountpoint":"/m","options":{"observe":"reads"},"pid":1"#)
    log.process(1, pid: 10, "sh", exe: "/bin/dash")
    log.process(2, pid: 11, "tool", exe: "/bin/tool", parents: [1])
    for index in 1...4 {
      let path = "d/f\(index % 3)"
      log.started(index, path, size: 100_000 * index, by: 2, at: Int64(index) * 10)
      log.waited(index, by: 2, from: Int64(index) * 10, to: Int64(index) * 10 + 5)
      log.finished(index, path, bytes: 100_000 * index, by: 2, blocked: 5, at: Int64(index) * 10 + 5)
      log.add(
        index == 2 ? "handle.open" : "handle.closed", at: 60,
        #""path":"\#(path)","handle":\#(index),"process":2,"size":\#(100_000 * index),"covered_bytes":4096,"#
          + #""mapped_bytes":4096,"high_water_mark":8192,"reads":2,"ranges":[[0,2048],[4096,6144]],"cached_before":true,"#
          + #""superseded":true,"readers":[{"process":2,"covered_bytes":4096,"covered_unit":4096,"high_water_mark":8192}]"#
      )
      log.add("eviction.finished", at: 70, #""path":"\#(path)","kind":"file","bytes":5,"by":"command""#)
      log.add(
        "source.changed", at: 71,
        #""path":"d/f\#(index)","kind":"file","change":"renamed","old_path":"\#(path)","by":"poll""#)
    }
    for (index, trigger) in ["lookup", "readdir", "lookup"].enumerated() {
      log.started(10 + index, "d", kind: "directory", trigger: trigger, by: 2, at: 1)
      let fields = #""attempt":\#(10 + index),"process":2,"tid":7,"main_thread":true,"trigger":"\#(trigger)""#
      log.add("wait.started", at: 1, fields)
      log.add("wait.finished", at: 9, fields + #","blocked_ns":8,"outcome":"ok","name":"f\#(index)","found":"file""#)
      log.finished(10 + index, "d", kind: "directory", by: 2, at: 9)
    }
    log.add("item.renamed", at: 71, #""path":"d/f9","old_path":"d/f1","kind":"file","exchange":true,"process":2"#)
    log.add(
      "item.removed", at: 71,
      #""path":"d/f2","kind":"file","was_dataless":true,"lost_bytes":5,"links_left":0,"process":2"#)
    log.add("item.written", at: 71, #""path":"d/f1","kind":"file","bytes":5,"calls":1,"size":5,"process":2"#)
    log.add("handle.unseen", at: 72, #""path":"d/f1","process":2,"size":5,"io":"passthrough""#)
    log.add("mark", at: 73, #""label":"x","counters":{"requests_reaching_the_volume":{"lookup":4}}"#)
    log.add("log.dropped", at: 74, #""count":3"#)
    log.sequence += 2
    log.add("run.started", at: 75, #""command":["a"],"pid":11"#)
    log.add("budget.exceeded", at: 76, #""budget":"files","limit":1,"used":2,"path":"d/f1","process":2"#)
    log.add("run.finished", at: 77, #""exit_status":0,"signal":"SIGKILL","budgets":{"files":3}"#)
    log.add("wait.started", at: 78, #""attempt":1,"process":2,"tid":5,"trigger":"read""#)
    let access = #""access":1,"operation":"read","path":"d/f1","kind":"file","process":2,"tid":5,"offset":0,"length":5"#
    log.add("access.started", at: 78, access)
    log.add("access.finished", at: 79, access + #","blocked_ns":1,"outcome":"EINTR""#)
    log.add("access.started", at: 79, #""access":2,"operation":"open","path":"d","kind":"directory","process":1"#)
    log.add(
      "volume.counters", at: 79,
      #""items":{"files":9,"files_empty":2,"directories":1,"bytes":5},"opens":{"now":{"direct":1}}"#)
    return log.lines.map { Array($0.utf8) }
  }()

  static let sessionNodes: [JSONNode] = session.compactMap { JSONNode($0) }

  /// A body of each call that takes one, and answers of all kinds.
  static let wire: [JSONNode] = WireSamples.all.sorted { $0.key < $1.key }
    .flatMap { [node($0.value.full), node($0.value.least)] }.compactMap(\.self)

  static func node(_ value: any Encodable & Sendable) -> JSONNode? {
    do throws(ControlError) { return JSONNode(try WireCoding.encode(value)) } catch { return nil }
  }
}

/// What may stand on a line of a terminal: nothing that moves the cursor, starts a line, or turns the text.
func isSafe(_ text: some StringProtocol) -> Bool {
  text.unicodeScalars.allSatisfy { scalar in
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
    case .format: false
    default: true
    }
  }
}
