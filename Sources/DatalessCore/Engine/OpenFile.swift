/// One open of a file.
struct OpenFile: BitwiseCopyable {
  enum Mode: UInt8 {
    /// Its reads are watched: `WatchedFile`.
    case watched
    /// The kernel's page cache serves them.
    case cached
    /// Decided for passthrough, but without a backing yet: it can still become a cached one.
    case undecided
    /// The kernel reads the content file itself.
    case passthrough
  }

  let node: NodeIndex
  /// As open(2) had them, the access mode among them.
  let openFlags: Int32
  var mode: Mode
  /// The content that it reads, and that is not given up before it is closed; `none` before its first read of local
  /// content.
  var content: ContentID

  /// What lies in a place of no open file.
  static let blank = OpenFile(node: .root, openFlags: 0, mode: .cached, content: .none)
}

/// An open whose reads are watched, and what is known of it.
struct WatchedFile {
  var file: OpenFile
  let process: ProcessID
  /// How the kernel reads: directly, or through the page cache where it cannot.
  let io: ReadMode
  /// Whether pages of the file may have been in the kernel's cache when it was opened, or were read past us before.
  let pagesBefore: Bool
  var readers = HandleReaders()
  var triggered = false

  static let blank = WatchedFile(file: .blank, process: .unknown, io: .direct, pagesBefore: false)
}

/// How a node is open, by the mode of each open: the kernel refuses some mixtures with EIO.
struct NodeUse {
  private(set) var direct: UInt32 = 0
  private(set) var cached: UInt32 = 0
  private(set) var passthrough: UInt32 = 0
  private(set) var undecided: UInt32 = 0
  /// Which watched open put pages into the kernel's cache: 0 none, `.max` more than one.
  private(set) var pageReader: UInt64 = 0
  var latest = ContentLeases.Latest()

  var all: Int { Int(direct) + Int(cached) + Int(passthrough) + Int(undecided) }

  mutating func begin(_ mode: OpenFile.Mode) {
    switch mode {
    case .watched: direct += 1
    case .cached: cached += 1
    case .undecided: undecided += 1
    case .passthrough: passthrough += 1
    }
  }

  mutating func end(_ mode: OpenFile.Mode) {
    switch mode {
    case .watched: direct -= 1
    case .cached: cached -= 1
    case .undecided: undecided -= 1
    case .passthrough: passthrough -= 1
    }
  }

  mutating func notePages(by handle: UInt64) {
    if pageReader != handle { pageReader = pageReader == 0 ? handle : .max }
  }
}
