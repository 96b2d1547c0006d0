import ArgumentParser
import DatalessControl
import DatalessCore
import Glibc

/// A moment on the command line: how long ago, a date, a time of today, or both, with or without an offset from UTC.
enum TimeOption: Sendable, Equatable {
  /// Before now.
  case ago(Nanoseconds)
  case absolute(Stamp)

  /// A date and time as it was written.
  struct Stamp: Sendable, Equatable {
    struct Day: Sendable, Equatable {
      var year: Int
      var month: Int
      var day: Int
    }

    /// nil: today.
    var day: Day?
    /// Within the day; the whole second.
    var seconds = 0
    var nanoseconds: UInt32 = 0
    /// Seconds east of UTC; nil: none was written.
    var offset: Int?
  }

  static let expected =
    "expected a time such as 2026-01-02T03:04:05Z, 2026-01-02, 03:04 (of today), or how long ago, such as 5m"

  /// - Throws: `ValidationError` that says which part is wrong.
  static func parse(_ text: String) throws -> TimeOption {
    let shown = TerminalText.escaped(ArgumentBytes.decode(text))
    var reader = TimeReader(text)
    do throws(TimeReader.Flaw) {
      if let stamp = try reader.stamp() { return .absolute(stamp) }
    } catch {
      throw ValidationError("malformed time '\(shown)': \(error.words); \(expected) (EINVAL).")
    }
    guard let duration = try? DurationText.parse(text) else {
      throw ValidationError("malformed time '\(shown)': \(expected) (EINVAL).")
    }
    return .ago(Nanoseconds(duration.nanoseconds))
  }

  /// The moment that is meant.
  ///
  /// - Parameters:
  ///   - now: Nanoseconds since 1970.
  ///   - zone: Of a stamp without an offset.
  func moment(now: Nanoseconds, zone: LogZone) -> LogMoment {
    switch self {
    case .ago(let span):
      let time = (now - span).rawValue
      let seconds = time / 1_000_000_000 - (time % 1_000_000_000 < 0 ? 1 : 0)
      return LogMoment(seconds: seconds, nanoseconds: UInt32(time - seconds * 1_000_000_000))
    case .absolute(let stamp):
      let written = stamp.offset.map { LogZone.fixed($0) } ?? zone
      let day = stamp.day.map { UTCTime.days(year: $0.year, month: $0.month, day: $0.day) }
      let seconds = written.seconds(
        ofDay: day ?? written.day(of: now.rawValue / 1_000_000_000), seconds: stamp.seconds)
      return LogMoment(seconds: seconds, nanoseconds: stamp.nanoseconds)
    }
  }

  /// CLOCK_REALTIME.
  static var now: Nanoseconds {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return .seconds(Int64(time.tv_sec)) + Nanoseconds(Int64(time.tv_nsec))
  }
}

/// In which zone times of day are written and read.
enum LogZone: Sendable, Equatable {
  case utc
  /// This machine's, as TZ and /etc/localtime say.
  case local
  /// So many seconds east of UTC.
  case fixed(Int)

  private static let isZoneRead: Void = tzset()

  /// Seconds east of UTC at a moment, in seconds since 1970.
  func offset(at seconds: Int64) -> Int {
    switch self {
    case .utc: return 0
    case .fixed(let offset): return offset
    case .local:
      var time = time_t(seconds)
      var parts = tm()
      // localtime_r(3) need not read TZ itself.
      _ = Self.isZoneRead
      return localtime_r(&time, &parts) == nil ? 0 : Int(parts.tm_gmtoff)
    }
  }

  /// The day, since 1970-01-01, on which a moment falls.
  func day(of seconds: Int64) -> Int {
    let shifted = Int(seconds) + offset(at: seconds)
    return shifted >= 0 ? shifted / 86_400 : (shifted - 86_399) / 86_400
  }

  /// The moment of a time of day, in seconds since 1970. Of an hour that comes twice the first is meant, as far as the
  /// offsets before and after tell.
  func seconds(ofDay day: Int, seconds: Int) -> Int64 {
    let wall = Int64(day * 86_400 + seconds)
    // The offset a day before it holds unless the clock was set since.
    let first = wall - Int64(offset(at: wall - 86_400))
    return offset(at: first) == offset(at: wall - 86_400) ? first : wall - Int64(offset(at: first))
  }
}
