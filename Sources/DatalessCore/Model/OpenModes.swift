/// Numbers of opens of files, by the way in which their reads are served.
public struct OpenModes: Sendable, Hashable {
  /// Each read(2) reaches the volume alone, with its exact range: opens of dataless files.
  public var direct: Int64 = 0
  /// The kernel's page cache serves them, and asks for what it has not.
  public var pageCache: Int64 = 0
  /// The kernel reads the content file itself; nothing reaches the volume.
  public var passthrough: Int64 = 0

  public init() {}

  mutating func add(_ amount: Int64, to mode: ReadMode) {
    switch mode {
    case .direct: direct += amount
    case .pageCache: pageCache += amount
    }
  }
}
