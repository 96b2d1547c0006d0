internal import Glibc

/// The FUSE mounts that a process sees: what is mapped from them may be dataless (S15).
///
/// Also those of a caller in a mount namespace of its own, which nobody else can see.
enum FuseMounts {
  /// Whether a process sees what this one sees: the same mount namespace, from the same root. False where that cannot
  /// be told.
  static func areOurs(seenBy processID: Int32) -> Bool {
    guard let theirs = namespace(of: "\(processID)"), theirs == namespace(of: "self") else { return false }
    var target: [CChar] = [0, 0]
    // As it is called from here: "/" is our own root.
    let count = readlink("/proc/\(processID)/root", &target, target.count)
    return count == 1 && target[0] == CChar(bitPattern: UInt8(ascii: "/"))
  }

  private static func namespace(of process: String) -> UInt64? {
    var status = stat()
    return stat("/proc/\(process)/ns/mnt", &status) == 0 ? UInt64(status.st_ino) : nil
  }

  // LIMIT: bytes of /proc/PID/mountinfo. sysctl fs.mount-max is 100,000 mounts.
  static let bytesMax = 32 << 20

  /// nil when it cannot be told: then nothing of the process may be read.
  static func devices(seenBy processID: Int32) -> Set<DeviceNumber>? {
    guard let text = ProcessFile.bytes("\(processID)/mountinfo", limit: bytesMax), text.count < bytesMax else {
      return nil
    }
    return devices(text)
  }

  /// - Parameter text: Lines of a number, another, `major:minor`, and more up to ` - `, behind which is the type.
  /// - Returns: nil when a line has not this form.
  static func devices(_ text: [UInt8]) -> Set<DeviceNumber>? {
    var devices: Set<DeviceNumber> = []
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " "))
      // Spaces in paths are written as \040.
      guard words.count > 6, let mark = words[6...].firstIndex(where: { $0.elementsEqual("-".utf8) }),
        mark + 1 < words.count, let device = device(words[2])
      else { return nil }
      if words[mark + 1].starts(with: "fuse".utf8) { devices.insert(device) }
    }
    return devices
  }

  private static func device(_ word: ArraySlice<UInt8>) -> DeviceNumber? {
    let numbers = word.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      .map { UInt32(String(decoding: $0, as: UTF8.self)) }
    guard numbers.count == 2, let major = numbers[0], let minor = numbers[1] else { return nil }
    return DeviceNumber(major: major, minor: minor)
  }
}
