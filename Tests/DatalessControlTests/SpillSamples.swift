import Glibc
import TestSupport

@testable import DatalessControl

/// A directory for files without a name, removed with its owner.
final class SpillDirectory {
  let path: String

  /// On the first file system of the machine that has such files.
  init() throws {
    for parent in ["/var/tmp", "/tmp", "/dev/shm"] {
      var template = Array("\(parent)/dataless-spill-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { continue }
      let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      guard SpillPlace(directories: [path]).open() != nil else {
        rmdir(path)
        continue
      }
      self.path = path
      return
    }
    throw TemporaryFile.Failure.errno(EOPNOTSUPP)
  }

  deinit { rmdir(path) }

  /// Descriptors of this process, of files that were made here.
  var descriptors: [CInt] {
    (0..<4_096).filter { descriptor in
      var target = [CChar](repeating: 0, count: 4_096)
      let count = readlink("/proc/self/fd/\(descriptor)", &target, target.count)
      return count > 0 && target[..<count].starts(with: "\(path)/".utf8.map { CChar(bitPattern: $0) })
    }
  }

  /// Takes the content of all files away, as a disk may that breaks.
  func lose() {
    for descriptor in descriptors { truncate("/proc/self/fd/\(descriptor)", 0) }
  }
}

extension SpillLimits {
  /// Such that a few rows are too many.
  static func tiny(_ place: SpillPlace) -> SpillLimits {
    SpillLimits(
      segmentBits: 2, segments: 2, entries: 7, blockEntries: 3, blocks: 4, filterBytes: 64, place: place)
  }

  /// The same, with a place that takes all, or so much, or nothing.
  static func tiny(_ random: inout TestRandom, in directory: String) -> SpillLimits {
    switch random.below(4) {
    case 0: .tiny(SpillPlace(directories: ["/nonexistent/dataless"]))
    case 1: .tiny(SpillPlace(directories: [directory], bytesMax: random.below(2_000)))
    default: .tiny(SpillPlace(directories: ["/nonexistent/dataless", directory]))
    }
  }
}
