/// The functions of JavaScript that could be on a stack, by their frame pointers.
///
/// Which of them are, the native frames say, which are found later: what lies on a stack may be left over.
struct NodeWalk<Memory: CallerMemory> {
  // LIMIT: places that are looked at, functions, and characters of a name and of a source up to a function.
  private static var candidatesMax: Int { 4096 }
  private static var functionsMax: Int { 512 }
  private static var nameMax: Int { 300 }
  private static var sourceMax: Int { 1 << 20 }
  /// How far above its own place a saved rbp may point.
  private static var frameBytesMax: UInt64 { 1 << 20 }

  private var heap: NodeHeap<Memory>
  private var known: [UInt64: InterpretedFunction?] = [:]
  /// The heap of the functions that were found: a process can have several.
  private var heaps: Set<UInt64> = []
  /// By script, as far as each was read.
  private var sources: [UInt64: LineEnds] = [:]

  private struct LineEnds {
    /// Characters that were looked at.
    let count: Int
    let ends: [Int]

    /// From 1: a large script has many lines, and many of its functions can be on a stack.
    func line(at position: Int) -> Int {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if ends[middle] < position { low = middle + 1 } else { high = middle }
      }
      return 1 + low
    }
  }

  init(memory: Memory, layout: NodeLayout) { heap = NodeHeap(memory: memory, layout: layout) }

  /// To be called while the thread waits.
  mutating func functions(in copy: StackCopy, mappings: MappingTable) -> [UInt64: InterpretedFunction] {
    var found: [UInt64: InterpretedFunction] = [:]
    var candidates = 0
    // From the stack pointer up: the innermost ones are those that count.
    let first = 16 + Int((8 - copy.start & 7) & 7)
    for offset in stride(from: first, through: copy.bytes.count - 16, by: 8) {
      let slot = copy.start &+ UInt64(offset)
      guard let saved = copy.word(at: slot), saved > slot, saved - slot <= Self.frameBytesMax, saved & 7 == 0,
        let function = copy.word(at: slot &- 16), NodeValue.isObject(function),
        let context = copy.word(at: slot &- 8), NodeValue.isObject(context),
        let address = copy.word(at: slot &+ 8), mappings.isExecutable(address)
      else { continue }
      candidates += 1
      guard candidates <= Self.candidatesMax, known.count < Self.functionsMax else { break }
      if let named = name(of: function) { found[slot] = named }
    }
    return found
  }

  /// Where code is that V8 has compiled, as far as the stack leads there. To be called after `functions`.
  ///
  /// Optimized code need not write to all of its frame: what lies there may be a return address of an earlier call,
  /// above all where the code has taken the place of the interpreter's within a loop. That rbp leads to its caller and
  /// past that one is known of V8's code alone, so the code has to be on a page of the heap that has the functions.
  mutating func code(in copy: StackCopy, mappings: MappingTable) -> [Range<UInt64>] {
    let generated = mappings.mappings.filter { $0.isExecutable && $0.path.isEmpty }
    guard let lowest = generated.first?.start, let highest = generated.last?.end else { return [] }
    var found: [Range<UInt64>] = []
    var looked: Set<UInt64> = []
    for offset in stride(from: Int((8 - copy.start & 7) & 7), through: copy.bytes.count - 8, by: 8) {
      guard let address = copy.word(at: copy.start &+ UInt64(offset)),
        address >= lowest, address < highest, generated.contains(where: { $0.contains(address) }),
        looked.insert(address >> 12).inserted, !found.contains(where: { $0.contains(address) })
      else { continue }
      guard looked.count <= Self.candidatesMax, found.count < ThreadCapture.framedCodeMax else { break }
      guard let page = heap.page(of: address), heaps.contains(page.heap) else { continue }
      found.append(page.objects)
    }
    // Made of foreign numbers: pages that overlap are none.
    found.sort { $0.lowerBound < $1.lowerBound }
    return zip(found, found.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound } ? found : []
  }

  private mutating func name(of function: UInt64) -> InterpretedFunction? {
    if let known = known[function] { return known }
    let named = read(function)
    known[function] = .some(named)
    if named != nil, let page = heap.page(of: function) { heaps.insert(page.heap) }
    return named
  }

  /// From a JSFunction to its SharedFunctionInfo, ScopeInfo and Script, each of which says by its map what it is.
  private mutating func read(_ function: UInt64) -> InterpretedFunction? {
    guard let shared = heap.field(function, .shared), heap.isOfType(shared, .sharedType),
      let script = heap.field(shared, .script), heap.isOfType(script, .scriptType),
      let scriptName = heap.field(script, .scriptName), let info = heap.field(shared, .scopeInfo)
    else { return nil }
    // What is evaluated (`eval`, `new Function`) has none.
    let file = heap.text(scriptName, limit: Self.nameMax) ?? []
    var (name, start): ([UInt16], Int?) = ([], nil)
    if heap.isOfType(info, .scopeInfoType) {
      guard let scope = scope(info) else { return nil }
      (name, start) = scope
    } else if let text = heap.text(info, limit: Self.nameMax) {
      name = text
    }
    var line: Int?
    if let start, !file.isEmpty { line = self.line(at: start, of: script) }
    return InterpretedFunction(
      function: name.isEmpty ? Array("(anonymous)".utf8) : Self.utf8(name), file: Self.utf8(file), line: line)
  }

  /// Of V8 11.3: flags, parameters, count of locals, their names and infos, then what the function has of these: name
  /// and slot, inferred name, first and last position, outer scope.
  private mutating func scope(_ info: UInt64) -> (name: [UInt16], start: Int?)? {
    guard let locals = heap.word(info, 24).flatMap(NodeValue.integer), (0...10_000).contains(locals) else {
      return nil
    }
    // More names than these are in a table of their own.
    let first = 32 + 8 * (locals < 75 ? 2 * locals : locals + 1)
    var name: [UInt16] = []
    for place in 0..<4 {
      guard let word = heap.word(info, first + 8 * place) else { return nil }
      guard NodeValue.isObject(word), let text = heap.text(word, limit: Self.nameMax) else { continue }
      name = text
      break
    }
    for place in 0..<7 {
      let offset = first + 8 * place
      guard let start = heap.word(info, offset).flatMap(NodeValue.integer),
        let end = heap.word(info, offset + 8).flatMap(NodeValue.integer), start >= 0, end > start,
        let outer = heap.word(info, offset + 16), NodeValue.isObject(outer)
      else { continue }
      return (name, start)
    }
    return (name, nil)
  }

  /// The line, from 1, of a position in a script's source.
  private mutating func line(at position: Int, of script: UInt64) -> Int? {
    guard position <= Self.sourceMax else { return nil }
    if let known = sources[script], known.count >= position { return known.line(at: position) }
    // No more than is wanted, but all of it the second time.
    let limit = sources[script] == nil ? position : Self.sourceMax
    guard let source = heap.field(script, .scriptSource), let text = heap.text(source, limit: limit),
      text.count >= position
    else { return nil }
    let ends = text.indices.filter { index in
      switch text[index] {
      case 10: index == 0 || text[index - 1] != 13
      case 13, 0x2028, 0x2029: true
      default: false
      }
    }
    let known = LineEnds(count: text.count, ends: ends)
    sources[script] = known
    return known.line(at: position)
  }

  private static func utf8(_ units: [UInt16]) -> [UInt8] { Array(String(decoding: units, as: UTF16.self).utf8) }
}

/// Node's functions on a stack whose native frames are known.
enum NodeStack {
  private static let notReadable = InterpretedFunction(function: Array("(not readable)".utf8), file: [], line: nil)

  /// Those of generated code, and of V8's interpreter, whose frame pointer stands for a function. A function of which
  /// that is not known keeps its place: otherwise another one would seem to have made its calls.
  static func stack(_ functions: [UInt64: InterpretedFunction], _ native: NamedStack) -> InterpretedStack? {
    var seen: Set<UInt64> = []
    // Behind a guess rbp may be left over, and lead to the functions of an earlier call.
    let certain = native.frames.prefix { $0.certainty < .guessed }
    let frames = certain.compactMap { frame -> InterpretedFunction? in
      let isBuiltin = frame.symbol.starts(with: "Builtins_".utf8)
      guard frame.framePointer != 0, frame.module.isEmpty || isBuiltin, seen.insert(frame.framePointer).inserted else {
        return nil
      }
      let isInterpreted = frame.symbol.elementsEqual("Builtins_InterpreterEntryTrampoline".utf8)
      return functions[frame.framePointer] ?? (frame.module.isEmpty || isInterpreted ? notReadable : nil)
    }
    // A thread of its pool has none.
    guard !frames.isEmpty else { return nil }
    // What V8 has inlined is not there, and nothing tells so.
    return InterpretedStack(
      language: Array("node".utf8), isReadable: true, isComplete: false, hasFunctionLines: true, frames: frames)
  }
}
