import DatalessControl
import DatalessCore
import SystemPackage

/// `--frame`: how long a main thread may wait without a hitch.
struct FrameOption: Sendable {
  /// More than 0.
  var nanoseconds = SummaryReport.Hitches.defaultFrame

  static func parse(_ text: String) throws -> FrameOption {
    try VolumeOptions.checked { () throws(FSError) in
      let nanoseconds = try DurationText.parse(text).nanoseconds
      guard nanoseconds > 0 else {
        throw FSError(.invalidArgument, "malformed --frame '\(text)': a frame takes more than 0, such as 16.7ms")
      }
      return FrameOption(nanoseconds: nanoseconds)
    }
  }
}
