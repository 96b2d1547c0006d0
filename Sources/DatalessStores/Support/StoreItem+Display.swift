internal import DatalessCore

extension StoreItem {
  /// The path for messages: `.` for the root, bytes that are not UTF-8 as U+FFFD.
  var displayPath: String { Self.display(path) }

  static func display(_ path: [UInt8]) -> String {
    path.isEmpty ? "." : String(decoding: path, as: UTF8.self)
  }
}
