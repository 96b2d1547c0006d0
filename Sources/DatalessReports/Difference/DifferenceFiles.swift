public import DatalessControl

extension RunDifference {
  /// In which languages a difference is written.
  public static let kinds: Set<ReportKind> = [.markdown, .html, .json]

  /// Writes files, each whole or not at all. Kinds other than `kinds` are left out.
  public func write(_ requests: [ReportRequest]) throws(ControlError) {
    for request in requests where Self.kinds.contains(request.kind) {
      let file = try ReportFile(path: request.path)
      switch request.kind {
      case .markdown: try file.write(DifferenceText.markdown(self))
      case .html: try file.write(DifferenceText.page(self))
      default: try file.write(try WireCoding.encode(self) + [UInt8(ascii: "\n")])
      }
      try file.commit()
    }
  }
}
