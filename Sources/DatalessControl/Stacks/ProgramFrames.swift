/// Which frames of a stack are the program's own, and which of them a line of text shows. Whoever names a place in a
/// program asks this: verdicts, summaries, reports and comparisons.
///
/// Around a system call stand the C library, the language's runtime and its standard library, four frames and more of
/// them in C++ and Go; a developer looks for the line that called those.
public struct ProgramFrames: Sendable, Equatable {
  /// Of each frame: of the interpreter's where there are any, else of the native ones.
  public let origins: [FrameOrigin]
  /// The frame to look at: the innermost of the program, of those whose line is known if there is one; of packages
  /// where none is the program's; nil where none is theirs either.
  public let own: Int?
  /// What a line of text shows: what the own frame calls, then this and what is around it, out to the outermost one
  /// that is the program's, too. What the C library has around a system call tells nothing, and is no part of it.
  public let shown: Range<Int>

  public init(_ stack: CallerStack) {
    if let interpreted = stack.interpreted, !interpreted.frames.isEmpty {
      var origins: [FrameOrigin] = []
      for frame in interpreted.frames {
        origins.append(FrameOrigin(frame, language: interpreted.language, inner: origins.last))
      }
      self.init(origins, hasLine: { _ in true }, isOfTheCLibrary: { _ in false })
      return
    }
    let frames = stack.frames
    let origins = frames.indices.map { FrameOrigin(frames[$0], inner: $0 > 0 ? frames[$0 - 1] : nil) }
    self.init(
      origins, hasLine: { frames[$0].file != nil && frames[$0].line != nil },
      isOfTheCLibrary: { PathBytes.lastComponent(frames[$0].moduleBytes).starts(with: "libc.so".utf8) })
  }

  private init(_ origins: [FrameOrigin], hasLine: (Int) -> Bool, isOfTheCLibrary: (Int) -> Bool) {
    self.origins = origins
    let wanted = origins.contains(.program) ? FrameOrigin.program : .package
    let found = origins.indices.filter { origins[$0] == wanted }
    own = found.first(where: hasLine) ?? found.first
    if let own, let outermost = found.last {
      shown = (own > 0 && !isOfTheCLibrary(own - 1) ? own - 1 : own)..<(outermost + 1)
    } else {
      let first = origins.indices.first { !isOfTheCLibrary($0) } ?? 0
      shown = first..<origins.count
    }
  }
}
