public import SystemPackage

extension Errno {
  /// The symbolic name, such as `ESTALE`, or `errno <number>` for a value this table does not know.
  public var name: String { Self.namesByNumber[rawValue] ?? "errno \(rawValue)" }

  /// Finds an errno by its Linux name, such as `EDEADLK`; nil when there is no such name.
  public init?(name: String) {
    guard let entry = Self.table.first(where: { $0.1 == name }) else { return nil }
    self.init(rawValue: entry.0)
  }

  private static let namesByNumber = Dictionary(table.map { ($0.0, $0.1) }, uniquingKeysWith: { first, _ in first })

  /// Linux numbers (asm-generic/errno-base.h and errno.h). Aliases come after the name that is printed.
  private static let table: [(CInt, String)] = [
    (1, "EPERM"), (2, "ENOENT"), (3, "ESRCH"), (4, "EINTR"), (5, "EIO"), (6, "ENXIO"), (7, "E2BIG"), (8, "ENOEXEC"),
    (9, "EBADF"), (10, "ECHILD"), (11, "EAGAIN"), (11, "EWOULDBLOCK"), (12, "ENOMEM"), (13, "EACCES"), (14, "EFAULT"),
    (15, "ENOTBLK"), (16, "EBUSY"), (17, "EEXIST"), (18, "EXDEV"), (19, "ENODEV"), (20, "ENOTDIR"), (21, "EISDIR"),
    (22, "EINVAL"), (23, "ENFILE"), (24, "EMFILE"), (25, "ENOTTY"), (26, "ETXTBSY"), (27, "EFBIG"), (28, "ENOSPC"),
    (29, "ESPIPE"), (30, "EROFS"), (31, "EMLINK"), (32, "EPIPE"), (33, "EDOM"), (34, "ERANGE"), (35, "EDEADLK"),
    (35, "EDEADLOCK"), (36, "ENAMETOOLONG"), (37, "ENOLCK"), (38, "ENOSYS"), (39, "ENOTEMPTY"), (40, "ELOOP"),
    (42, "ENOMSG"), (43, "EIDRM"), (61, "ENODATA"), (62, "ETIME"), (67, "ENOLINK"), (70, "ECOMM"), (71, "EPROTO"),
    (72, "EMULTIHOP"), (74, "EBADMSG"), (75, "EOVERFLOW"), (84, "EILSEQ"), (85, "ERESTART"), (87, "EUSERS"),
    (88, "ENOTSOCK"), (93, "EPROTONOSUPPORT"), (95, "EOPNOTSUPP"), (95, "ENOTSUP"), (98, "EADDRINUSE"),
    (99, "EADDRNOTAVAIL"),
    (100, "ENETDOWN"), (101, "ENETUNREACH"), (103, "ECONNABORTED"), (104, "ECONNRESET"), (105, "ENOBUFS"),
    (107, "ENOTCONN"), (110, "ETIMEDOUT"), (111, "ECONNREFUSED"), (112, "EHOSTDOWN"), (113, "EHOSTUNREACH"),
    (114, "EALREADY"), (115, "EINPROGRESS"), (116, "ESTALE"), (117, "EUCLEAN"), (121, "EREMOTEIO"), (122, "EDQUOT"),
    (123, "ENOMEDIUM"), (124, "EMEDIUMTYPE"), (125, "ECANCELED"), (126, "ENOKEY"), (127, "EKEYEXPIRED"),
    (129, "EKEYREJECTED"), (130, "EOWNERDEAD"),
  ]
}
