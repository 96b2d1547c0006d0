/// Joins the frames of a capture with what files say about them.
struct FrameNaming {
  let files: MappedFiles
  let mappings: MappingTable
  let demangler: Demangler

  /// Go's stacks by Go's own table, all others by the tables of their files.
  func unwind(_ capture: ThreadCapture) -> Stack {
    if let table = files.goFunctions(at: capture.registers.programCounter),
      let stack = GoUnwinder(capture, table: table).unwind()
    {
      return stack
    }
    var unwinder = StackUnwinder(capture, source: files)
    return unwinder.unwind()
  }

  func named(_ stack: Stack) -> NamedStack {
    var frames: [NamedFrame] = []
    for frame in stack.frames where frames.count < Stack.framesMax {
      var named = named(frame)
      named.framePointer = frame.framePointer ?? 0
      frames += inlined(in: &named, of: frame)
      frames.append(named)
    }
    return NamedStack(frames: Array(frames.prefix(Stack.framesMax)), end: stack.end)
  }

  /// The functions that the compiler has put into that of a frame, innermost first. The lines behind them are those of
  /// the calls that are none in the code.
  private func inlined(in frame: inout NamedFrame, of stackFrame: StackFrame) -> [NamedFrame] {
    guard frame.line > 0, let place = files.place(of: stackFrame.lookupAddress) else { return [] }
    guard let calls = calls(at: place, lookup: stackFrame.lookupAddress) else {
      // No line is better than one of another function.
      (frame.file, frame.line) = ([], 0)
      return []
    }
    return calls.map { call in
      var inlined = frame
      inlined.symbol = call.function
      inlined.isInlined = true
      (frame.file, frame.line) = (call.file, UInt32(exactly: call.line) ?? 0)
      return inlined
    }
  }

  /// By debug information; of Go by its own table, which is there without, too.
  ///
  /// - Returns: nil where there are some and nothing tells which.
  private func calls(at place: MappedFiles.Place, lookup: UInt64) -> [InlinedCall]? {
    guard let calls = place.file.inlined(at: place.address, demangler) else { return nil }
    guard calls.isEmpty, let go = files.goFunctions(at: lookup) else { return calls }
    return go.inlined(at: lookup) { place.file.goData(at: $0, count: $1) }
  }

  private func named(_ frame: StackFrame) -> NamedFrame {
    let lookup = frame.lookupAddress
    guard let mapping = mappings.mapping(at: lookup) else {
      return NamedFrame(module: [], offset: frame.address, certainty: frame.certainty)
    }
    guard let place = files.place(of: lookup) else {
      // A file that may not be had: where in the file it is, at least.
      let offset = mapping.fileOffset(of: lookup).map { $0 &+ (frame.address &- lookup) } ?? frame.address
      return NamedFrame(module: mapping.path, offset: offset, certainty: frame.certainty)
    }
    var named = NamedFrame(
      module: mapping.path, buildID: place.buildID, offset: place.address &+ (frame.address &- lookup),
      certainty: frame.certainty)
    if let go = files.goFunctions(at: lookup)?.place(at: lookup) {
      named.symbol = go.function
      named.file = go.file ?? []
      named.line = go.line.flatMap { UInt32(exactly: $0) } ?? 0
    } else {
      let name = place.file.name(at: place.address, demangler)
      (named.symbol, named.file, named.line) = (name.symbol, name.file, UInt32(exactly: name.line) ?? 0)
    }
    return named
  }

  /// Names of generated code, which lies in memory without a file.
  ///
  /// - Parameter exact: Addresses at which the thread stands, which may be the first of their functions: all others are
  ///   behind a call.
  func withPerfMap(_ stack: NamedStack, exact: Set<UInt64>, _ map: FileBytes) -> NamedStack {
    func lookup(_ frame: NamedFrame) -> UInt64? {
      guard frame.module.isEmpty, frame.offset > 0 else { return nil }
      return exact.contains(frame.offset) ? frame.offset : frame.offset - 1
    }
    let wanted = stack.frames.compactMap(lookup)
    guard !wanted.isEmpty, let size = map.size,
      let text = map.bytes(at: 0, count: min(size, UInt64(PerfMap.bytesMax)))
    else { return stack }
    let names = PerfMap.names(of: Set(wanted), in: text)
    var stack = stack
    for index in stack.frames.indices {
      if let name = lookup(stack.frames[index]).flatMap({ names[$0] }) { stack.frames[index].symbol = name }
    }
    return stack
  }
}
