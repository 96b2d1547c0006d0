/// `struct ucred` of unix(7), which glibc only declares for `_GNU_SOURCE`: who connected, as the kernel recorded it.
struct PeerCredentials: Sendable {
  var pid: Int32 = 0
  var uid: UInt32 = 0
  var gid: UInt32 = 0
}
