import DatalessCore

/// The intents that are held, by the names that they have: who holds a path is found by the directories on the way to
/// it, however many intents are held.
///
/// Names are known by their hashes. Two with the same one are taken for one: at the worst somebody is taken to
/// coordinate who does not. Memory: some 100 bytes for each intent, for each of its names, and for each directory on
/// the way to one.
struct HeldIntents: Sendable {
  private struct Intent: Sendable {
    /// The log's id; nil where it does not tell.
    var process: UInt32?
    /// Of its names, and of the directories on the way to them.
    var names: [UInt64] = []
    var directories: [UInt64] = []
    /// Whether it has names that are not known: it is taken to hold whatever is asked for.
    var isAnywhere = false
  }

  // LIMIT: intents that are held at the same time, and names that one has after renames. Beyond, whoever writes is
  // taken to coordinate.
  private static let intentsMax = 4_096
  private static let namesMax = 64
  // LIMIT: names of all intents, and directories on the way to them. Who needs more is taken to hold anything.
  private static let placesMax = 262_144

  private var intents: [UInt64: Intent] = [:]
  /// Who has a name, and who has one below a directory.
  private var named: [UInt64: Set<UInt64>] = [:]
  private var below: [UInt64: Set<UInt64>] = [:]
  private var anywhere: Set<UInt64> = []
  /// Hashes that `intents` has.
  private var placeCount = 0
  /// Whether some are not known here.
  private(set) var areTooMany = false

  var isEmpty: Bool { intents.isEmpty }

  /// Takes note of an intent that is granted.
  mutating func granted(_ record: LogRecord) {
    let json = record.json
    guard let number = json.unsigned("intent"), let path = json.path else { return }
    ended(number)
    guard intents.count < Self.intentsMax else {
      areTooMany = true
      return
    }
    let names = json.names.isEmpty ? [path] : json.names
    let count = (json.integer("reads") ?? 0).plus(json.integer("writes") ?? 0)
    intents[number] = Intent(process: record.process)
    guard names.count <= Self.namesMax, count <= Int64(names.count) else { return loosen(number) }
    for name in names { add(name, to: number) }
  }

  mutating func ended(_ number: UInt64) {
    leave(number)
    anywhere.remove(number)
    intents[number] = nil
  }

  /// Who holds a name holds what has it, and so the name that this gets; who holds something below it, all below that.
  mutating func renamed(_ old: [UInt8], to new: [UInt8]) {
    guard intents.count > anywhere.count else { return }
    var around: Set<UInt64> = []
    PathHash.ofEach(on: new) { hash, _ in
      around.insert(hash)
    }
    var concerned: Set<UInt64> = []
    PathHash.ofEach(on: old) { hash, isWhole in
      // Who holds a directory in which both lie has nothing to follow.
      if !around.contains(hash), let holders = named[hash] { concerned.formUnion(holders) }
      if isWhole, let holders = below[hash] { concerned.formUnion(holders) }
    }
    for number in concerned { add(new, to: number) }
  }

  /// Whether a path is held, or may be, by a process that is meant.
  func isHeld(_ path: [UInt8], by isMeant: (_ process: UInt32?) -> Bool) -> Bool {
    if anywhere.contains(where: { isMeant(intents[$0]?.process) }) { return true }
    var isHeld = false
    PathHash.ofEach(on: path) { hash, _ in
      guard !isHeld, let holders = named[hash] else { return }
      isHeld = holders.contains { isMeant(intents[$0]?.process) }
    }
    return isHeld
  }

  // MARK: - Places

  private mutating func add(_ path: [UInt8], to number: UInt64) {
    guard let place = intents.index(forKey: number), !intents.values[place].isAnywhere else { return }
    let depth = path.count { $0 == PathBytes.slash } + 2
    guard intents.values[place].names.count < Self.namesMax, placeCount + depth <= Self.placesMax else {
      return loosen(number)
    }
    PathHash.ofEach(on: path) { hash, isWhole in
      if isWhole {
        guard named[hash, default: []].insert(number).inserted else { return }
        intents.values[place].names.append(hash)
      } else {
        guard below[hash, default: []].insert(number).inserted else { return }
        intents.values[place].directories.append(hash)
      }
      placeCount += 1
    }
  }

  /// It has names that are not known.
  private mutating func loosen(_ number: UInt64) {
    leave(number)
    intents[number]?.isAnywhere = true
    anywhere.insert(number)
  }

  private mutating func leave(_ number: UInt64) {
    guard let intent = intents[number] else { return }
    for hash in intent.names { Self.remove(number, at: hash, from: &named) }
    for hash in intent.directories { Self.remove(number, at: hash, from: &below) }
    placeCount -= intent.names.count + intent.directories.count
    intents[number]?.names = []
    intents[number]?.directories = []
  }

  private static func remove(_ number: UInt64, at hash: UInt64, from places: inout [UInt64: Set<UInt64>]) {
    places[hash]?.remove(number)
    if places[hash]?.isEmpty == true { places[hash] = nil }
  }
}
