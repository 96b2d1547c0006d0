/// Why something about a process could not be read. The raw value is the word in the log.
enum Unavailability: String, Sendable, Hashable {
  /// The caller lives in a pid namespace that does not contain it for us: the kernel gives thread id 0.
  case pidNamespace = "pid_namespace"
  /// The process, or the image that was asked about, had ended when it was read.
  case exited
  /// The daemon's user may not look at that process.
  case permission
  /// A thread of the kernel: it has no executable and no arguments.
  case kernelThread = "kernel_thread"
  /// The arguments did not come in time for the record.
  case late
}
