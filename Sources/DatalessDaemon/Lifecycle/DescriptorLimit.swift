import Glibc

/// How many descriptors this process may have (RLIMIT_NOFILE).
enum DescriptorLimit {
  /// Takes as many as the system allows: the usual 1,024 are for programs that use select(2), which nothing here does.
  ///
  /// - Returns: How many that are.
  @discardableResult
  static func raise() -> Int {
    var limit = rlimit()
    let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(descriptors, &limit) == 0 else { return 1024 }
    guard limit.rlim_cur < limit.rlim_max else { return Int(clamping: limit.rlim_cur) }
    let before = limit.rlim_cur
    limit.rlim_cur = limit.rlim_max
    return Int(clamping: setrlimit(descriptors, &limit) == 0 ? limit.rlim_max : before)
  }
}
