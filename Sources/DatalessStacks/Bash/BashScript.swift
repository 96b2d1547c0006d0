internal import Glibc

/// The path of the script that a bash executes. BASH_SOURCE has it as it was given, which may be relative to a
/// directory that the script has left since; a bash keeps it open as well.
enum BashScript {
  /// The highest one below 256 that is free when the script is opened: `move_to_high_fd` in bash's general.c.
  private static let descriptor = 255

  /// The file of a command by its whole path, where it is that of the script; otherwise as bash has it.
  ///
  /// A link of /proc is what the kernel says of an open file, and is not followed: the file may lie on a volume.
  static func resolved(_ file: [UInt8], of processID: Int32) -> [UInt8] {
    guard !file.isEmpty, file.first != UInt8(ascii: "/") else { return file }
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/\(processID)/fd/\(descriptor)", &target, target.count)
    guard count > 0, count < target.count else { return file }
    let path = target[..<count].map { UInt8(bitPattern: $0) }
    return isPath(path[...], of: file) ? path : file
  }

  /// Whether an absolute path ends as a relative one does, behind all that leads upwards.
  static func isPath(_ path: ArraySlice<UInt8>, of file: [UInt8]) -> Bool {
    let slash = UInt8(ascii: "/")
    let parts = file.split(separator: slash).filter { !$0.elementsEqual(".".utf8) }
    let names = parts[(parts.lastIndex { $0.elementsEqual("..".utf8) }.map { $0 + 1 } ?? 0)...]
    let ends = path.split(separator: slash).suffix(names.count)
    return path.first == slash && !names.isEmpty && ends.elementsEqual(names)
  }
}
