import Testing

@testable import DatalessControl

/// A record of these fields alone, for what looks at no others: a line of a log has more.
func partialRecord(_ fields: String) throws -> LogRecord { LogRecord(try #require(JSONObject(bytes(fields)))) }
