internal import CDataless
internal import Dispatch
internal import Glibc

/// Presents a name on a volume: its program is told before others who coordinate use that name, what is below it or a
/// directory in which it lies, and may save before they do. It ends with its last reference.
public final class AccessPresenter: Sendable {
  /// What it is told.
  public struct News: Sendable, Equatable {
    public enum What: Int32, Sendable {
      /// About to happen: it waits for `answer`, 5 s at most.
      case read = 1
      case write, move, delete, replace
      /// An access about which it was asked is over.
      case ended
      /// Has happened: the content was evicted; another version in SOURCE was taken over; the name presented is `path`
      /// now.
      case evicted, changed, renamed
      /// A command, a rule or pressure is about to evict the content: it waits for `answer`, too. An eviction holds
      /// nothing: to save before it, take an intent of your own.
      case evict
      /// What SOURCE has changed is about to be taken over; as `evict`. What is saved before is kept, as a conflict.
      case change
    }

    public let what: What
    /// The intent it is about; its number is 0 for none. To save before it: `AccessIntent(writing:within:)`.
    public let intent: AccessIntent.Grant
    /// What is used, from the volume's root.
    public let path: String
    /// Paths of the intent beside this one.
    public let others: Int64

    /// Whether an answer is waited for.
    public var waits: Bool { what.rawValue <= What.replace.rawValue || what == .evict || what == .change }
  }

  /// Readable when there is news: for an event loop of one's own, which then asks `look()`.
  public let descriptor: Int32

  /// - Parameter path: Relative to the working directory, or absolute.
  /// - Throws: As `AccessIntent`.
  public init(_ path: String) throws(CoordinationError) {
    descriptor = dataless_present_start(path)
    let number = errno
    guard descriptor >= 0 else { throw .notAsked("cannot present \(path)", errno: number) }
  }

  deinit { dataless_present_end(descriptor) }

  /// The next news; nil: none now. Never waits. - Throws: The volume has ended, or it was cut off.
  public func look() throws(CoordinationError) -> News? {
    while true {
      var news = dataless_news()
      guard dataless_present_next(descriptor, &news) == 0 else {
        let number = errno
        if number == EAGAIN { return nil }
        throw CoordinationError(
          name: number == ETIMEDOUT ? "coordination_volume_ended" : "coordination_bad_request", errno: number,
          message: "there is no news any more")
      }
      // What a later version tells is read over; what it asks nobody here can do anything about.
      guard let what = News.What(rawValue: news.what) else {
        if news.intent != 0 { dataless_present_answer(descriptor, news.intent) }
        continue
      }
      let path = withUnsafeBytes(of: &news.path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      let intent = AccessIntent.Grant(
        intent: news.intent, waited: .zero, materialized: 0, daemon: VolumeDaemon(of: descriptor))
      return News(what: what, intent: intent, path: path, others: news.others)
    }
  }

  /// What is about to happen may happen. - Throws: The volume has ended.
  public func answer(_ news: News) throws(CoordinationError) {
    guard dataless_present_answer(descriptor, news.intent.intent) != 0 else { return }
    throw CoordinationError(name: "coordination_volume_ended", errno: errno, message: "the answer cannot be given")
  }

  /// The news, as it comes. Ends when there will be none. For one reader.
  public var news: AsyncStream<News> {
    AsyncStream { continuation in
      DescriptorSource.watch(descriptor, continuation) { [weak self] in
        while let self, let news = try look() { continuation.yield(news) }
        return self != nil
      }
    }
  }
}
