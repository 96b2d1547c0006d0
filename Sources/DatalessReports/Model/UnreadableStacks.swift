import DatalessControl

extension Report {
  /// The language of a stack whose frames are those of an interpreter, as the program's own cannot be read.
  func unreadable(_ stack: ReportStack) -> String? {
    if case .known(let index) = stack { stackTable[index].unreadable } else { nil }
  }
}
