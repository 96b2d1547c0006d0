internal import SystemPackage

/// An item of SOURCE that was opened, and what it was at that moment.
struct OpenItem: ~Copyable {
  private let descriptor: OwnedDescriptor
  let status: FileStatus

  var raw: CInt { descriptor.raw }

  init(_ descriptor: consuming OwnedDescriptor) throws(Errno) {
    status = try FileStatus(of: descriptor.raw)
    self.descriptor = descriptor
  }

  /// Gives the descriptor away.
  consuming func take() -> CInt { descriptor.take() }
}
