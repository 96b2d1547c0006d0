import DatalessCore
@testable import DatalessState
import Glibc
import TestSupport
import Testing

/// Files that SOURCE has under several names, in directories that are not looked into at the same time, and what
/// becomes of them on the volume, mount after mount.
@Suite struct KeptLinksTests {
  private static let directories = ["", "e", "k", "d"]
  private let source = Scratch("source")
  private let states = StateCopies()

  /// A file, whatever its names are.
  private struct File {
    var names: Set<String>
    var text: String
    var mode: UInt32 = 0o644
  }

  private static func path(_ directory: String, _ name: String) -> String {
    directory.isEmpty ? name : "\(directory)/\(name)"
  }

  init() {
    for directory in ["e", "k"] { mkdir(source.full(directory), 0o755) }
    source.write("f", bytes("theirs 1"), mode: 0o644)
    source.write("e/x", bytes("theirs 2"), mode: 0o644)
    source.write("k/alone", bytes("theirs 3"), mode: 0o644)
    link(source.full("f"), source.full("e/hl"))
    link(source.full("e/x"), source.full("k/y"))
  }

  /// A step on the volume and in the model.
  private func step(_ volume: KeptVolume, _ files: inout [File], _ random: inout TestRandom, _ number: Int) -> String {
    let index = random.below(files.count)
    guard let name = files[index].names.sorted().randomElement(using: &random) else { return "nothing" }
    let used = Set(files.flatMap(\.names))
    let free = Self.path(random.element(of: Self.directories), "n\(number)")
    precondition(!used.contains(free))
    switch random.below(8) {
    case 0, 1:
      files[index].text = String("written \(number)    ".prefix(12))
      #expect(volume.write(files[index].text, to: name) == nil)
      return "write \(name)"
    case 2, 3:
      #expect(volume.rename(name, to: free) == nil)
      files[index].names.remove(name)
      files[index].names.insert(free)
      return "rename \(name) \(free)"
    case 4:
      #expect(volume.link(name, to: free) == nil)
      files[index].names.insert(free)
      return "link \(name) \(free)"
    case 5:
      let node = volume.node(name)
      #expect(volume.unlink(name) == nil)
      files[index].names.remove(name)
      // As the kernel does with what has no name left.
      if files[index].names.isEmpty { volume.forget(node) }
      return "unlink \(name)"
    case 6:
      files[index].mode ^= 0o055
      let mode = files[index].mode
      #expect(volume.change(name) { $0.mode = mode } == nil)
      return "chmod \(name)"
    default:
      #expect(volume.read(name) == files[index].text, "\(name)")
      if random.oneIn(2) { volume.evict(name) }
      return "read \(name)"
    }
  }

  private func compare(_ volume: KeptVolume, _ files: [File], _ random: inout TestRandom, _ story: [String]) {
    // In any order: what is found of a file must not depend on which of its names is met first.
    let looked = Self.directories.shuffled(using: &random).filter { _ in random.oneIn(2) }
    for directory in looked { _ = volume.names(directory) }
    let named = files.flatMap { file in file.names.sorted().map { ($0, file) } }.shuffled(using: &random)
    let story = story + ["ls \(looked)", "read \(named.map(\.0))"]
    for (name, file) in named {
      #expect(volume.read(name) == file.text, "\(name): \(story)")
      #expect((volume.attributes(name)?.mode ?? 0) & 0o777 == file.mode, "\(name): \(story)")
    }
    for directory in Self.directories {
      let there = Set(volume.names(directory).map { Self.path(directory, $0) })
      let expected = files.flatMap(\.names).filter { name in
        (name.split(separator: "/").count == 1) == directory.isEmpty && (directory.isEmpty || name.hasPrefix(directory))
      }
      #expect(there.subtracting(Self.directories) == Set(expected), "\(directory): \(story)")
    }
  }

  @Test(arguments: TestSeed.first(48)) func eachNameLeadsToWhatWasWrittenMountAfterMount(seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    var files = [
      File(names: ["f", "e/hl"], text: "theirs 1"), File(names: ["e/x", "k/y"], text: "theirs 2"),
      File(names: ["k/alone"], text: "theirs 3"),
    ]
    var story = ["seed \(seed)"]
    for round in 0..<5 {
      let volume = try KeptVolume(states.next(), source: source)
      if round == 0 { #expect(volume.makeDirectory("d") == nil) }
      compare(volume, files, &random, story)
      for number in 0..<random.below(5) {
        story.append(step(volume, &files, &random, round * 10 + number))
      }
      if random.oneIn(3) { compare(volume, files, &random, story) }
      if random.oneIn(4) {
        volume.passSecond()
        story.append("kill")
        let report = try states.next().check()
        #expect(report.damages == 0, "\(story): \(report.findings)")
      } else {
        try volume.unmount()
        story.append("remount")
        let findings = try states.next().check().findings
        #expect(findings == [], "\(story)")
      }
    }
  }
}
