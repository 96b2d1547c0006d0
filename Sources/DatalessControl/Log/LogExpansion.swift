/// Writes records with their processes expanded: an id becomes an object with pid, comm, exe, argv and ancestors.
///
/// Everything else in a line stays byte for byte as it is, fields and types of later versions included.
public struct LogExpansion: Sendable {
  // LIMIT: the daemon writes less. Beyond, all is left as it is: a line of some bytes could become one of gigabytes.
  private static let addedBytesMax = 4 << 20
  private static let valueBytesMax = 32 << 10
  private static let waitersMax = 64

  private static let copied: [StaticString] = [
    "comm", "comm_b64", "exe", "exe_b64", "argv", "argv_b64", "argv_truncated", "script", "script_b64", "uid", "gid",
    "cgroup", "cgroup_b64", "unit", "unit_b64", "container", "container_b64", "unavailable",
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
    write(
      object, processes: processes, limit: object.bytes.count + Self.addedBytesMax, waiters: object.range("waiters"),
      to: &output)
    return output
  }

  /// - Parameters:
  ///   - limit: The length of the output, in bytes, from which on nothing is expanded any more.
  ///   - waiters: The value in the object that is written out as its waiters; nil for none.
  private func write(
    _ object: JSONObject, processes: LogProcesses, limit: Int, waiters: Range<Int>?, to output: inout [UInt8]
  ) {
    // Of keys that are there twice the first is meant, as everywhere: each costs as much as it is long.
    let process = object.range("process")
    let id = process == nil ? nil : object.unsigned("process").flatMap { UInt32(exactly: $0) }
    // Fields that stay as they are and follow each other without white space: nearly all of a line, in three pieces.
    var same: Range<Int>?
    output.append(UInt8(ascii: "{"))
    for (index, field) in object.fields.enumerated() {
      let isProcess = field.value == process && id != nil
      let isWaiters = field.value == waiters && object.bytes[field.value.lowerBound] == UInt8(ascii: "[")
      let whole = field.key.lowerBound - 1..<field.value.upperBound
      let isTight = !isProcess && !isWaiters && field.value.lowerBound == field.key.upperBound + 2
      if isTight, let before = same, before.upperBound + 1 == whole.lowerBound {
        same = before.lowerBound..<whole.upperBound
        continue
      }
      if let before = same { output += object.bytes[before] }
      same = nil
      if index > 0 { output.append(UInt8(ascii: ",")) }
      if isTight {
        same = whole
        continue
      }
      output.append(UInt8(ascii: "\""))
      output += object.bytes[field.key]
      output += "\":".utf8
      if isProcess, let id {
        self.process(id, of: object, processes: processes, limit: limit, to: &output)
      } else if isWaiters {
        self.waiters(object, processes: processes, limit: limit, to: &output)
      } else {
        output += object.bytes[field.value]
      }
    }
    if let same { output += object.bytes[same] }
    output.append(UInt8(ascii: "}"))
  }

  private func waiters(_ object: JSONObject, processes: LogProcesses, limit: Int, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "["))
    for (index, element) in object.elements("waiters").enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      // Nobody waits for a waiter.
      if index < Self.waitersMax, output.count < limit, let waiter = object.object(at: element) {
        write(waiter, processes: processes, limit: limit, waiters: nil, to: &output)
      } else {
        output += object.bytes[element]
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
      Self.copy("tid", of: object, to: &output)
      Self.copy("main_thread", of: object, to: &output)
      output += process.fields
      output += ",\"parents\":[".utf8
      for (index, parent) in process.parents.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        output += "{\"id\":\(parent)".utf8
        if let process = processes[parent], output.count < limit {
          output += ",\"pid\":\(process.pid)".utf8
          output += process.fieldsOfParent
        }
        output.append(UInt8(ascii: "}"))
      }
      output.append(UInt8(ascii: "]"))
    }
    output.append(UInt8(ascii: "}"))
  }

  /// What is written of a process wherever it is named, and where it is an ancestor: fields of JSON, each behind a
  /// comma.
  static func fields(of process: JSONObject) -> (own: [UInt8], asParent: [UInt8]) {
    var (own, asParent): ([UInt8], [UInt8]) = ([], [])
    for key in copied { copy(key, of: process, to: &own) }
    for key in copiedOfParents { copy(key, of: process, to: &asParent) }
    return (own, asParent)
  }

  /// A text, a number, a word, or an array of texts: what the daemon writes of a process.
  private static func isPlain(_ value: ArraySlice<UInt8>, of key: StaticString, in object: JSONObject) -> Bool {
    switch value.first {
    case UInt8(ascii: "{"): false
    case UInt8(ascii: "["): object.elements(key).allSatisfy { object.bytes[$0.lowerBound] == UInt8(ascii: "\"") }
    default: true
    }
  }

  private static func copy(_ key: StaticString, of object: JSONObject, to output: inout [UInt8]) {
    guard let value = object.raw(key), value.count <= Self.valueBytesMax, isPlain(value, of: key, in: object) else {
      return
    }
    output += ",\"".utf8
    output += UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
    output += "\":".utf8
    output += value
  }
}
