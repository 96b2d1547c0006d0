extension NamedStack {
  // LIMIT: bytes of a path, a symbol, and a message, between the processes and in the log.
  static let pathMax = 4096
  static let symbolMax = 4096
  static let problemMax = 256
  /// Bytes of the texts of all frames; those behind it have addresses only.
  static let textsMax = 512 << 10

  func encode(into writer: inout ByteWriter) {
    writer.add(UInt8(Stack.End.allCases.firstIndex(of: end) ?? 0))
    writer.addCount(min(frames.count, Stack.framesMax))
    var left = Self.textsMax
    for frame in frames.prefix(Stack.framesMax) {
      let isWhole = frame.textBytes <= left
      if isWhole { left -= frame.textBytes }
      writer.add(isWhole ? frame.module : [], limit: Self.pathMax)
      writer.add(frame.buildID?.bytes ?? [], limit: BuildID.lengths.upperBound)
      writer.add(frame.offset)
      writer.add(isWhole ? frame.symbol : [], limit: Self.symbolMax)
      writer.add(isWhole ? frame.file : [], limit: Self.pathMax)
      writer.add(isWhole ? frame.line : 0)
      writer.add(frame.certainty.rawValue)
      writer.add(frame.isInlined)
      writer.add(frame.framePointer)
    }
    writer.add(problem, limit: Self.problemMax)
    writer.add(interpreted != nil)
    interpreted?.encode(into: &writer, textsLeft: left)
  }

  init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
    let number = Int(try reader.word(UInt8.self))
    guard Stack.End.allCases.indices.contains(number) else { throw ByteReader.Malformed() }
    let end = Stack.End.allCases[number]
    var frames: [NamedFrame] = []
    for _ in 0..<(try reader.count(limit: Stack.framesMax, size: 38)) { frames.append(try NamedFrame(from: &reader)) }
    let problem = try reader.text(limit: Self.problemMax)
    let interpreted = try reader.flag() ? try InterpretedStack(from: &reader) : nil
    self.init(frames: frames, end: end, interpreted: interpreted, problem: problem)
  }
}

extension NamedFrame {
  var textBytes: Int { module.count + symbol.count + file.count }

  init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
    let module = try reader.text(limit: NamedStack.pathMax)
    let identity = try reader.text(limit: BuildID.lengths.upperBound)
    let buildID = BuildID(identity)
    guard identity.isEmpty || buildID != nil else { throw ByteReader.Malformed() }
    let offset = try reader.word(UInt64.self)
    let symbol = try reader.text(limit: NamedStack.symbolMax)
    let file = try reader.text(limit: NamedStack.pathMax)
    let line = try reader.word(UInt32.self)
    guard let certainty = FrameCertainty(rawValue: try reader.word(UInt8.self)) else { throw ByteReader.Malformed() }
    self.init(
      module: module, buildID: buildID, offset: offset, symbol: symbol, file: file, line: line, certainty: certainty)
    isInlined = try reader.flag()
    framePointer = try reader.word(UInt64.self)
  }
}

extension InterpretedStack {
  // LIMIT: functions of an interpreted stack, and bytes of the language's name.
  static let framesMax = 512
  static let languageMax = 32

  func encode(into writer: inout ByteWriter, textsLeft: Int) {
    writer.add(language, limit: Self.languageMax)
    writer.add(isReadable)
    var left = textsLeft
    let kept = frames.prefix(Self.framesMax).prefix { frame in
      left -= frame.function.count + frame.file.count
      return left >= 0
    }
    writer.add(isComplete && kept.count == frames.count)
    writer.add(hasFunctionLines)
    writer.addCount(kept.count)
    for frame in kept {
      writer.add(frame.function, limit: NamedStack.symbolMax)
      writer.add(frame.file, limit: NamedStack.pathMax)
      writer.add(UInt32(exactly: frame.line ?? 0) ?? 0)
    }
  }

  init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
    let language = try reader.text(limit: Self.languageMax)
    let (isReadable, isComplete) = (try reader.flag(), try reader.flag())
    let hasFunctionLines = try reader.flag()
    var frames: [InterpretedFunction] = []
    for _ in 0..<(try reader.count(limit: Self.framesMax, size: 12)) {
      let function = try reader.text(limit: NamedStack.symbolMax)
      let file = try reader.text(limit: NamedStack.pathMax)
      let line = try reader.word(UInt32.self)
      frames.append(InterpretedFunction(function: function, file: file, line: line == 0 ? nil : Int(line)))
    }
    self.init(
      language: language, isReadable: isReadable, isComplete: isComplete, hasFunctionLines: hasFunctionLines,
      frames: frames)
  }
}
