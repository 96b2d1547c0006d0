/// What is about to be done to items without an intent: those who present them are asked first
/// (docs/COORDINATION.md).
public struct ItemQuestion: Sendable {
  public enum What: Sendable, Equatable {
    /// Content is evicted.
    case evict
    /// What the store has changed is taken over.
    case change
  }

  /// How long a presenter may take to answer.
  public static let answerMax = Nanoseconds.seconds(5)

  public var what: What
  /// From the volume's root, without `.`, `..` or an empty component.
  public var paths: [[UInt8]]
  /// When it goes on, whoever has not answered; `answerMax` after the question at the latest, which nil means.
  public var until: MonotonicTime?
  /// Whether what concerns nobody goes on at once; otherwise all goes on together.
  public var splits: Bool

  public init(_ what: What, paths: [[UInt8]], until: MonotonicTime? = nil, splits: Bool = false) {
    self.what = what
    self.paths = paths
    self.until = until
    self.splits = splits
  }
}

/// Programs that present items. None of the calls waits; all are made without the engine's lock.
public protocol ItemPresenters: Sendable {
  /// Whether there are any. Looked at before anything else is done for them, so it costs a load.
  var areThere: Bool { get }

  /// Tells who presents what now.
  ///
  /// - Parameter completion: Called once, here or on another thread, which it must not hold up.
  func look(_ completion: @escaping @Sendable (Presenters) -> Void)

  /// Asks those whom a question concerns.
  ///
  /// - Parameter goOn: Called with each place of the question's paths once, here or on another thread, which it must
  ///   not hold up. With no number for what concerns nobody, at once; with the number to be ended for what somebody was
  ///   asked about, when all have answered or their time is up. Of a question that does not split, called once.
  func ask(_ question: ItemQuestion, goOn: @escaping @Sendable (_ places: [Int], _ number: UInt64?) -> Void)

  /// What they were asked about is done, or will not be.
  func end(_ number: UInt64)
}
