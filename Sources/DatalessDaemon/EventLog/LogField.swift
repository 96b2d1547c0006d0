/// One key and its value in a `LogValue.object`.
struct LogField: Sendable, Equatable {
  var key: String
  var value: LogValue
}
