public import SystemPackage

/// A planned failure of an attempt. All its waiters get the same outcome, and the log names the rule.
public struct Fault: Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    case errno(Errno)
    /// The attempt never ends by itself: until its waiters leave, `give_up_after` ends it, or the volume ends.
    case never
    /// The store delivers fewer bytes than the listing promised: EIO, never a short file.
    case wrongSize
    /// The store has another version by now: ESTALE, after everything was read.
    case superseded
  }

  /// How much content arrives before the failure.
  public enum Point: Sendable, Equatable {
    case bytes(Int64)
    /// 0...1 of the file's size.
    case fraction(Double)
  }

  public var kind: Kind
  /// nil: before the first byte. Ignored by a directory, and by `superseded` and `wrongSize`, which come at the end.
  public var after: Point?
  /// Whether the failure comes at once, before gate, slot and latency. Default false: after the latency.
  public var isImmediate: Bool

  public init(_ kind: Kind, after: Point? = nil, isImmediate: Bool = false) {
    self.kind = kind
    self.after = after
    self.isImmediate = isImmediate
  }

  /// The errno that the waiters get; nil for `never`.
  ///
  /// - Parameter errnos: The profile's, for a superseded version.
  func errno(_ errnos: Profile.Errnos) -> Errno? { kind == .superseded ? errnos.superseded : errno }

  /// The errno that the waiters get with macOS's profile; nil for `never`.
  public var errno: Errno? {
    switch kind {
    case .errno(let errno): errno
    case .never: nil
    case .wrongSize: .ioError
    case .superseded: .staleNFSFileHandle
    }
  }

  /// The byte at which the fetch of a file of this size fails; nil if it fails before it.
  public func failingOffset(size: Int64) -> Int64? {
    switch kind {
    case .wrongSize, .superseded: return size
    case .errno, .never: break
    }
    switch after {
    case nil: return nil
    case .bytes(let count): return min(max(count, 0), size)
    case .fraction(let share): return share >= 1 ? size : Int64(Double(size) * max(share, 0))
    }
  }
}
