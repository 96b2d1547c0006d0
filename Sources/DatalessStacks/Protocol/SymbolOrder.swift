/// A capture, for the process that explains it.
struct SymbolOrder: Equatable {
  // LIMIT: mappings that are told: the executable ones of the process. Beyond, frames are "outside code".
  static let mappingsMax = 4096
  static let pathMax = 4096
  // LIMIT: bytes of all paths.
  static let pathsMax = 400 << 10

  /// A file whose descriptor comes with the order, in this order.
  struct File: Equatable {
    let device: DeviceNumber
    let inode: UInt64
  }

  let capture: ThreadCapture
  let files: [File]

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.add(capture.registers.call != nil)
    writer.add(UInt64(clamping: capture.registers.call ?? 0))
    writer.add(capture.registers.stackPointer)
    writer.add(capture.registers.programCounter)
    writer.add(capture.copy.start)
    writer.add(capture.copy.bytes, limit: StackCopy.bytesMax)
    let executable = capture.mappings.mappings.filter(\.isExecutable).prefix(Self.mappingsMax)
    writer.addCount(executable.count)
    var left = Self.pathsMax
    for mapping in executable {
      let path = mapping.path.count <= left ? mapping.path : []
      left -= path.count
      for word in [mapping.start, mapping.end, mapping.fileOffset, mapping.inode] { writer.add(word) }
      writer.add(mapping.device.major)
      writer.add(mapping.device.minor)
      writer.add(path, limit: Self.pathMax)
    }
    Self.add(capture.mappings.onVolumes.prefix(Self.mappingsMax), to: &writer)
    Self.add(capture.framedCode.prefix(ThreadCapture.framedCodeMax), to: &writer)
    writer.addCount(files.count)
    for file in files {
      writer.add(file.device.major)
      writer.add(file.device.minor)
      writer.add(file.inode)
    }
    return writer.bytes
  }

  private static func add(_ ranges: ArraySlice<Range<UInt64>>, to writer: inout ByteWriter) {
    writer.addCount(ranges.count)
    for range in ranges {
      writer.add(range.lowerBound)
      writer.add(range.upperBound)
    }
  }

  init(capture: ThreadCapture, files: [File]) {
    self.capture = capture
    self.files = files
  }

  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    do throws(ByteReader.Malformed) {
      let (isCall, call) = (try reader.flag(), try reader.word(UInt64.self))
      let registers = ThreadRegisters(
        call: isCall ? Int(exactly: call) : nil, stackPointer: try reader.word(UInt64.self),
        programCounter: try reader.word(UInt64.self))
      let copy = StackCopy(start: try reader.word(UInt64.self), bytes: try reader.text(limit: StackCopy.bytesMax))
      let mappings = try Self.mappings(&reader)
      var capture = ThreadCapture(registers: registers, mappings: mappings, copy: copy)
      capture.framedCode = try Self.ranges(&reader, limit: ThreadCapture.framedCodeMax)
      self.capture = capture
      var files: [File] = []
      for _ in 0..<(try reader.count(limit: CallerFiles.countMax, size: 16)) {
        let device = DeviceNumber(major: try reader.word(UInt32.self), minor: try reader.word(UInt32.self))
        files.append(File(device: device, inode: try reader.word(UInt64.self)))
      }
      self.files = files
      try reader.end()
    } catch { return nil }
  }

  private static func mappings(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> MappingTable {
    var mappings: [Mapping] = []
    var last: UInt64 = 0
    for _ in 0..<(try reader.count(limit: mappingsMax, size: 44)) {
      let (start, end) = (try reader.word(UInt64.self), try reader.word(UInt64.self))
      guard start >= last, start < end else { throw ByteReader.Malformed() }
      last = end
      let (offset, inode) = (try reader.word(UInt64.self), try reader.word(UInt64.self))
      let device = DeviceNumber(major: try reader.word(UInt32.self), minor: try reader.word(UInt32.self))
      mappings.append(
        Mapping(
          executableFrom: start, to: end, fileOffset: offset, device: device, inode: inode,
          path: try reader.text(limit: pathMax)))
    }
    return MappingTable(mappings: mappings, onVolumes: try ranges(&reader, limit: mappingsMax))
  }

  /// Ascending, without overlaps.
  private static func ranges(
    _ reader: inout ByteReader, limit: Int
  ) throws(ByteReader.Malformed) -> [Range<UInt64>] {
    var ranges: [Range<UInt64>] = []
    var last: UInt64 = 0
    for _ in 0..<(try reader.count(limit: limit, size: 16)) {
      let (start, end) = (try reader.word(UInt64.self), try reader.word(UInt64.self))
      guard start >= last, start < end else { throw ByteReader.Malformed() }
      last = end
      ranges.append(start..<end)
    }
    return ranges
  }
}

/// Whether there is a file of debug information for one of a capture's files.
struct DebugFileQuestion: Equatable {
  let file: SymbolOrder.File
  /// Empty without one.
  let buildID: [UInt8]
  /// Of .gnu_debuglink, as the file has it; empty without one. Checked by whoever opens it.
  let link: [UInt8]

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.add(file.device.major)
    writer.add(file.device.minor)
    writer.add(file.inode)
    writer.add(buildID, limit: BuildID.lengths.upperBound)
    writer.add(link, limit: 255)
    return writer.bytes
  }

  init(file: SymbolOrder.File, buildID: [UInt8], link: [UInt8]) {
    self.file = file
    self.buildID = buildID
    self.link = link
  }

  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    do throws(ByteReader.Malformed) {
      let device = DeviceNumber(major: try reader.word(UInt32.self), minor: try reader.word(UInt32.self))
      file = SymbolOrder.File(device: device, inode: try reader.word(UInt64.self))
      buildID = try reader.text(limit: BuildID.lengths.upperBound)
      link = try reader.text(limit: 255)
      try reader.end()
    } catch { return nil }
  }
}
