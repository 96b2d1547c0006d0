import Glibc
import SystemPackage

/// write(2) until everything is written.
enum DescriptorOutput {
  /// - Returns: The errno that stopped it; nil when all is written.
  static func write(_ bytes: [UInt8], to descriptor: CInt) -> Errno? {
    bytes.withUnsafeBytes { buffer -> Errno? in
      var offset = 0
      while offset < buffer.count {
        let count = Glibc.write(descriptor, buffer.baseAddress! + offset, buffer.count - offset)
        if count >= 0 {
          offset += count
        } else if errno == EAGAIN {
          // Somebody made the terminal or pipe non-blocking; wait until it takes more.
          var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = poll(&ready, 1, -1)
        } else if errno != EINTR {
          return Errno(rawValue: errno)
        }
      }
      return nil
    }
  }
}
