import CDatalessLinux
import DatalessCore
import Glibc
import SystemPackage

/// Sockets of clients, as one thread serves them: nothing here waits.
enum CoordinationSocket {
  /// Listens for messages that come whole (SOCK_SEQPACKET), for the volume's user alone.
  ///
  /// - Parameter path: At most 107 bytes, in a directory that only that user may enter.
  static func listen(at path: String) throws(Errno) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .fileNameTooLong }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { throw Errno(rawValue: errno) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let failure = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    guard failure == 0, chmod(path, 0o600) == 0, Glibc.listen(descriptor, 4096) == 0 else {
      let number = errno
      close(descriptor)
      throw Errno(rawValue: number)
    }
    return descriptor
  }

  /// nil: nobody is there now, or there are no descriptors left.
  static func accept(_ listener: Int32) -> Int32? {
    let descriptor = clinux_accept(listener)
    return descriptor >= 0 ? Int32(truncatingIfNeeded: descriptor) : nil
  }

  static func peer(of descriptor: Int32) -> clinux_peer? {
    var peer = clinux_peer()
    return clinux_peer_of(descriptor, &peer) == 0 ? peer : nil
  }

  enum Received {
    /// - Parameter memory: What came beside it.
    case message(ArraySlice<UInt8>, memory: RequestMemory?)
    case nothing
    case gone
  }

  /// - Parameter buffer: Larger than any message may be.
  static func receive(_ descriptor: Int32, into buffer: inout [UInt8]) -> Received {
    var list = clinux_descriptor_list()
    func next() -> Int {
      buffer.withUnsafeMutableBytes { clinux_receive_descriptors(descriptor, $0.baseAddress, $0.count, &list) }
    }
    var count = next()
    // It has closed without reading what it was sent. What it has said before comes after that.
    if count == -Int(ECONNRESET) { count = next() }
    guard count > 0 else { return count == -Int(EAGAIN) || count == -Int(EINTR) ? .nothing : .gone }
    var memory: RequestMemory?
    withUnsafeBytes(of: list.numbers) { numbers in
      for index in 0..<Int(list.count) {
        let number = numbers.load(fromByteOffset: index * 4, as: Int32.self)
        if index == 0 { memory = RequestMemory(descriptor: number) } else { close(number) }
      }
    }
    return .message(buffer[..<count], memory: memory)
  }

  /// The intent within which something is asked for that is still to be received.
  static func peekWithin(_ descriptor: Int32) -> UInt64? {
    var head = [UInt8](repeating: 0, count: CoordinationHead.bytes)
    let count = recv(descriptor, &head, head.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    return count == head.count ? CoordinationHead.within(head[...]) : nil
  }

  /// - Returns: False when the client's buffer is full: it does not read, and is told nothing.
  @discardableResult
  static func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) >= 0 || errno != EAGAIN
  }

  /// Reads sealed memory, which nobody can change or take away.
  static func read(_ memory: RequestMemory, count: Int) throws(CoordinationRefusal) -> [UInt8] {
    guard clinux_is_sealed(memory.descriptor) != 0 else {
      throw CoordinationRefusal(.badRequest, "the paths have to lie in sealed memory: ask by libcdataless")
    }
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let part = bytes[done...].withUnsafeMutableBytes { pread(memory.descriptor, $0.baseAddress, $0.count, done) }
      if part < 0, errno == EINTR { continue }
      guard part > 0 else { throw CoordinationRefusal(.badRequest, "the memory with the paths is too short") }
      done += part
    }
    return bytes
  }
}

/// A descriptor that came beside a request, and is closed when nobody has it any more: when its paths were read, or
/// when who sent it has gone.
final class RequestMemory: Sendable {
  let descriptor: Int32

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }
}
