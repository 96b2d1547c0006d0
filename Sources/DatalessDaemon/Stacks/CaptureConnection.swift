import DatalessStacks

/// The capture process in use, and those that were left behind. For one thread.
struct CaptureConnection {
  // LIMIT: capture processes that hang. Each has some megabytes; with so many of them there are no more stacks.
  static let abandonedMax = 8

  private var current_: (helper: StackHelper, socket: StackSocket)?
  private var abandoned: [StackHelper] = []
  private let mounts = MountWatch()

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
  func fuseDevices() -> [DeviceNumber]? {
    guard let devices = mounts.devices(), devices.count <= CaptureOrder.volumesMax else { return nil }
    return Array(devices)
  }
}
