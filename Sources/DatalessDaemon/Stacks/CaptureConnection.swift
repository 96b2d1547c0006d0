import DatalessControl
import DatalessStacks

/// The capture process in use, and those that were left behind. For one thread.
struct CaptureConnection {
  // LIMIT: capture processes that hang. Each has some megabytes; with so many of them there are no more stacks.
  static let abandonedMax = 8

  private var current_: (helper: StackHelper, socket: StackSocket)?
  private var abandoned: [StackHelper] = []

  var current: StackSocket? { current_?.socket }

  /// Starts one where there is none; nil when none can be had.
  mutating func socket() -> StackSocket? {
    if let current_ { return current_.socket }
    abandoned.removeAll { $0.isGone() }
    guard abandoned.count < Self.abandonedMax, let started = StackHelper.start(.capture) else { return nil }
    current_ = started
    return started.socket
  }

  /// Does without it from now on. It is killed, and not waited for: it may be stuck in the kernel.
  mutating func abandon() {
    guard let (helper, _) = current_ else { return }
    current_ = nil
    helper.end()
    if !helper.isGone() { abandoned.append(helper) }
  }

  mutating func end() {
    abandon()
    abandoned.removeAll { $0.isGone() }
  }

  /// The devices of all FUSE mounts; nil when they cannot be told, or are too many: then nobody's memory may be read.
  static func fuseDevices() -> [DeviceNumber]? {
    guard let bytes = try? FileBytes.read("/proc/self/mountinfo") else { return nil }
    let devices = Set(
      MountTable(parsing: bytes).entries.filter { $0.fileSystemType.hasPrefix("fuse") }.map { DeviceNumber($0.device) })
    guard !devices.contains(nil), devices.count <= CaptureOrder.volumesMax else { return nil }
    return devices.compactMap(\.self)
  }
}

extension DeviceNumber {
  /// - Parameter text: As mountinfo has it: `major:minor`, decimal.
  init?(_ text: String) {
    let words = text.split(separator: ":")
    guard words.count == 2, let major = UInt32(words[0]), let minor = UInt32(words[1]) else { return nil }
    self.init(major: major, minor: minor)
  }
}
