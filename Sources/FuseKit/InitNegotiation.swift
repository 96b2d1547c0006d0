internal import CFuse3

/// What the kernel and the session agreed on in INIT.
public struct NegotiatedFeatures: Sendable, Hashable {
  /// The kernel's protocol version: 7 and its minor number (45 in Linux 6.18).
  public var kernelMajor: UInt32
  public var kernelMinor: UInt32
  /// The minor number libfuse answered with; newer messages than it knows still work one by one.
  public var libraryMinor: UInt32
  /// Lookups and listings of one directory run at the same time. Without it one parked lookup stops its directory.
  public var parallelDirectoryOperations: Bool
  /// MAP_SHARED works on direct_io opens (Linux 6.6). Without it such a mmap(2) fails with ENODEV.
  public var directIOMapping: Bool
  /// Opens may name a backing file (Linux 6.9). Registering one also needs CAP_SYS_ADMIN.
  public var passthrough: Bool
  /// The file system clears set-id bits itself, which saves a getxattr per write.
  public var handleKillPrivileges: Bool
  public var posixACL: Bool
  /// create, tmpfile, mkdir and mknod come with the caller's mode and umask, to be applied by the file system.
  public var unmaskedModes: Bool
  /// open(2) with O_TRUNC is one request.
  public var atomicTruncate: Bool
  public var readdirPlus: Bool
  public var cacheSymlinks: Bool
  /// Pages are dropped by notification only, never because a modification time moved.
  public var explicitInvalidation: Bool
  /// Readahead, asynchronous reads and releases the kernel lets wait for us at a time, as asked. An ordinary user's is
  /// cut by the kernel to /sys/module/fuse/parameters/max_user_bgreq, silently.
  public var maxBackground: Int
  public var congestionThreshold: Int
  /// Bytes.
  public var maxReadahead: Int
  /// Bytes of the largest WRITE, and pages of the largest READ times the page size.
  public var maxWrite: Int
}

/// The one INIT exchange of a session: what the kernel offered, and the reply with what libfuse 3.14 leaves out.
///
/// libfuse 3.14 accepts PARALLEL_DIROPS and drops it, and does not know the features of flags2. They are added to its
/// reply on the way to the kernel, each only if the kernel offered it. A kernel without INIT_EXT (before 5.17) gets no
/// flags2.
struct InitNegotiation: Sendable {
  /// What the reply shall ask for, beyond libfuse's own.
  struct Wishes: Sendable {
    var passthrough = false
  }

  /// One INIT request as the kernel sent it.
  struct Offer: Sendable {
    var unique: UInt64
    var major: UInt32
    var minor: UInt32
    /// flags and, with INIT_EXT, flags2 above them.
    var flags: UInt64

    /// Parses a request; nil if it is not an INIT. A short body has zeros where fields are missing, as old kernels do.
    init?(request: UnsafeRawBufferPointer) {
      guard request.count >= Self.headerBytes + 8 else { return nil }
      let header = request.loadUnaligned(as: fuse_in_header.self)
      guard header.opcode == cfuse_op_init else { return nil }
      var body = cfuse_init_in()
      withUnsafeMutableBytes(of: &body) { body in
        let available = request[Self.headerBytes...].prefix(body.count)
        body.copyMemory(from: UnsafeRawBufferPointer(rebasing: available))
      }
      unique = header.unique
      major = body.major
      minor = body.minor
      flags = UInt64(body.flags)
      if flags & cfuse_init_ext != 0 {
        flags |= UInt64(body.flags2) << 32
      }
    }

    private static let headerBytes = MemoryLayout<fuse_in_header>.size
  }

  var wishes: Wishes
  private(set) var offer: Offer?
  private(set) var features: NegotiatedFeatures?

  init(wishes: Wishes) { self.wishes = wishes }

  /// Notes a request read from the kernel if it is an INIT. There can be a second one, after a version mismatch.
  mutating func received(request: UnsafeRawBufferPointer) {
    guard features == nil, let offer = Offer(request: request) else { return }
    self.offer = offer
  }

  /// Edits the reply in place if it answers the INIT request, and notes what was agreed.
  ///
  /// - Parameters:
  ///   - header: The reply's header, with the unique number and error that identify it.
  ///   - body: What follows the header.
  /// - Returns: Whether this was the final INIT reply.
  mutating func edit(header: UnsafeRawBufferPointer, body: UnsafeMutableRawBufferPointer) -> Bool {
    guard
      features == nil, let offer, offer.major == 7, header.count >= MemoryLayout<fuse_out_header>.size,
      body.count >= MemoryLayout<cfuse_init_out>.size
    else { return false }
    let out = header.loadUnaligned(as: fuse_out_header.self)
    guard out.unique == offer.unique, out.error == 0 else { return false }
    var reply = UnsafeRawBufferPointer(body).loadUnaligned(as: cfuse_init_out.self)
    Self.amend(&reply, offer: offer.flags, wishes: wishes)
    body.storeBytes(of: reply, as: cfuse_init_out.self)
    features = NegotiatedFeatures(offer: offer, reply: reply)
    return true
  }

  /// The pure part of `edit`.
  static func amend(_ reply: inout cfuse_init_out, offer: UInt64, wishes: Wishes) {
    var wanted = cfuse_init_parallel_dirops | cfuse_init_handle_killpriv_v2
    if offer & cfuse_init_ext != 0 {
      wanted |= cfuse_init_ext | cfuse_init_direct_io_allow_mmap
      if wishes.passthrough {
        wanted |= cfuse_init_passthrough
      }
    }
    var flags = UInt64(reply.flags) | UInt64(reply.flags2) << 32
    flags |= wanted & offer
    reply.flags = UInt32(truncatingIfNeeded: flags)
    reply.flags2 = UInt32(truncatingIfNeeded: flags >> 32)
    if flags & cfuse_init_passthrough != 0 {
      // Backing files may not themselves be stacked.
      reply.max_stack_depth = 1
    }
  }
}

extension NegotiatedFeatures {
  init(offer: InitNegotiation.Offer, reply: cfuse_init_out) {
    let flags = UInt64(reply.flags) | UInt64(reply.flags2) << 32
    self.init(
      kernelMajor: offer.major, kernelMinor: offer.minor, libraryMinor: reply.minor,
      parallelDirectoryOperations: flags & cfuse_init_parallel_dirops != 0,
      directIOMapping: flags & cfuse_init_direct_io_allow_mmap != 0,
      passthrough: flags & cfuse_init_passthrough != 0,
      handleKillPrivileges: flags & cfuse_init_handle_killpriv_v2 != 0,
      posixACL: flags & cfuse_init_posix_acl != 0, unmaskedModes: flags & cfuse_init_dont_mask != 0,
      atomicTruncate: flags & cfuse_init_atomic_o_trunc != 0,
      readdirPlus: flags & cfuse_init_do_readdirplus != 0, cacheSymlinks: flags & cfuse_init_cache_symlinks != 0,
      explicitInvalidation: flags & cfuse_init_explicit_inval_data != 0, maxBackground: Int(reply.max_background),
      congestionThreshold: Int(reply.congestion_threshold), maxReadahead: Int(reply.max_readahead),
      maxWrite: Int(reply.max_write))
  }
}
