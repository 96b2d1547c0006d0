import DatalessControl
import DatalessCore

/// The stacks of one session, as rows of `dataless log` name them: the first row of each has its functions and its
/// number, by which later ones refer to it.
///
/// The log has the functions in the first record of a stack alone. That one may have no row, as a filter wants later
/// ones only: then the first of these says them.
struct LogStacks {
  // LIMIT: of further stacks, rows behind that of the record with the functions refer to the log.
  static let placesMax = 4_096
  /// Names may be as long as a line, in a log that anybody may have written.
  private static let bytesMax = 4 << 20

  private struct Place {
    var functions: String
    /// Whether a row has named them.
    var isShown = false
  }

  private var places: [UInt64: Place] = [:]
  private var bytes = 0

  /// Where the caller of a `wait.stack` stood; nil where its record says that nobody knows. Every record of a stack
  /// must be shown, in order.
  ///
  /// - Parameter isShown: Whether the record has a row.
  mutating func place(of record: LogRecord, isShown: Bool) -> String? {
    let number = record.json.unsigned("stack_id")
    if let functions = functions(of: record, isShown: isShown) {
      guard let number else { return functions }
      keep(Place(functions: functions, isShown: isShown), as: number)
      return "\(functions) [stack \(number)]"
    }
    guard let number, isShown else { return nil }
    guard let place = places[number] else { return "as stack \(number) of the log" }
    guard !place.isShown else { return "as stack \(number)" }
    places[number]?.isShown = true
    return "\(place.functions) [stack \(number)]"
  }

  /// - Returns: nil for a record that has no stack of its own, and where nobody will ask for it.
  private func functions(of record: LogRecord, isShown: Bool) -> String? {
    guard isShown || places.count < Self.placesMax, let stack = record.json.raw("stack") else { return nil }
    return (try? WireCoding.decode(CallerStack.self, from: Array(stack), named: "a stack"))
      .map { StackText.summary($0) }
  }

  private mutating func keep(_ place: Place, as number: UInt64) {
    let known = places[number]?.functions.utf8.count
    let count = bytes - (known ?? 0) + place.functions.utf8.count
    guard known != nil || places.count < Self.placesMax, count <= Self.bytesMax else { return }
    places[number] = place
    bytes = count
  }
}
