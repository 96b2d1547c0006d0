/// Writes records with their processes expanded: an id becomes an object with pid, comm, exe, argv and ancestors.
///
/// Everything else in a line stays byte for byte as it is, fields and types of later versions included.
public struct LogExpansion: Sendable {
  // LIMIT: the daemon writes less. Beyond, processes are left as their ids: a line of some bytes could become one of
  // gigabytes.
  private static let addedBytesMax = 4 << 20
  private static let valueBytesMax = 32 << 10
  private static let waitersMax = 64

  private static let copied: [StaticString] = [
    "comm", "comm_b64", "exe", "exe_b64", "argv", "argv_b64", "argv_truncated", "script", "script_b64", "uid", "gid",
    "cgroup", "cgroup_b64",
    "unavailable",
  ]
  private static let copiedOfParents: [StaticString] = [
    "comm", "comm_b64", "exe", "exe_b64", "argv", "argv_b64", "script", "script_b64",
  ]

  public init() {}

  /// One line of JSON without its newline.
  public func line(_ record: LogRecord, _ processes: LogProcesses) -> [UInt8] {
    var output: [UInt8] = []
    let object = record.json
    output.reserveCapacity(object.bytes.count + 1_024)
    write(object, processes: processes, limit: object.bytes.count + Self.addedBytesMax, to: &output)
    return output
  }

  /// - Parameter limit: The length of the output, in bytes, from which on no process is expanded any more.
  private func write(_ object: JSONObject, processes: LogProcesses, limit: Int, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "{"))
    for (index, field) in object.fields.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      output.append(UInt8(ascii: "\""))
      output += object.bytes[field.key]
      output += "\":".utf8
      let key = object.bytes[field.key]
      if key.elementsEqual("process".utf8), let id = object.unsigned("process").flatMap({ UInt32(exactly: $0) }) {
        process(id, of: object, processes: processes, limit: limit, to: &output)
      } else if key.elementsEqual("waiters".utf8), object.bytes[field.value.lowerBound] == UInt8(ascii: "[") {
        waiters(object, processes: processes, limit: limit, to: &output)
      } else {
        output += object.bytes[field.value]
      }
    }
    output.append(UInt8(ascii: "}"))
  }

  private func waiters(_ object: JSONObject, processes: LogProcesses, limit: Int, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "["))
    for (index, waiter) in object.objects("waiters").enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      if index < Self.waitersMax {
        write(waiter, processes: processes, limit: limit, to: &output)
      } else {
        output += waiter.text
      }
    }
    output.append(UInt8(ascii: "]"))
  }

  private func process(
    _ id: UInt32, of object: JSONObject, processes: LogProcesses, limit: Int, to output: inout [UInt8]
  ) {
    output += "{\"id\":\(id)".utf8
    if let process = processes[id], output.count < limit {
      output += ",\"pid\":\(process.pid)".utf8
      copy("tid", of: object, to: &output)
      copy("main_thread", of: object, to: &output)
      if let record = process.record { for key in Self.copied { copy(key, of: record, to: &output) } }
      output += ",\"parents\":[".utf8
      for (index, parent) in process.parents.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        output += "{\"id\":\(parent)".utf8
        if let process = processes[parent] {
          output += ",\"pid\":\(process.pid)".utf8
          if let record = process.record { for key in Self.copiedOfParents { copy(key, of: record, to: &output) } }
        }
        output.append(UInt8(ascii: "}"))
      }
      output.append(UInt8(ascii: "]"))
    }
    output.append(UInt8(ascii: "}"))
  }

  /// A text, a number, a word, or an array of texts: what the daemon writes of a process.
  private func isPlain(_ value: ArraySlice<UInt8>, elements: [Range<Int>], of object: JSONObject) -> Bool {
    switch value.first {
    case UInt8(ascii: "{"): false
    case UInt8(ascii: "["): elements.allSatisfy { object.bytes[$0.lowerBound] == UInt8(ascii: "\"") }
    default: true
    }
  }

  private func copy(_ key: StaticString, of object: JSONObject, to output: inout [UInt8]) {
    guard let value = object.raw(key), value.count <= Self.valueBytesMax,
      isPlain(value, elements: object.elements(key), of: object)
    else { return }
    output += ",\"\(key)\":".utf8
    output += value
  }
}
