import Glibc

/// A FUSE file system, made of raw messages, whose root has one directory `d` that lists names which nobody can find.
///
/// Mounted as root, in the calling thread's mount namespace.
final class PhantomFileSystem {
  private let descriptor: CInt
  private let server: OneShot
  let mountpoint: String

  /// - Parameter names: How many names `d` lists; nil for one after the other without an end.
  init?(_ mountpoint: String, names: Int?) {
    let device = open("/dev/fuse", O_RDWR | O_CLOEXEC)
    guard device >= 0 else { return nil }
    guard mount("phantom", mountpoint, "fuse", 0, "fd=\(device),rootmode=40000,user_id=0,group_id=0") == 0 else {
      close(device)
      return nil
    }
    descriptor = device
    self.mountpoint = mountpoint
    server = OneShot { Self.serve(device, names ?? .max) }
  }

  func end() {
    umount2(mountpoint, CInt(MNT_FORCE | MNT_DETACH))
    server.join()
    close(descriptor)
  }

  private static func serve(_ device: CInt, _ names: Int) {
    var request = [UInt8](repeating: 0, count: 1 << 17)
    while true {
      let count = read(device, &request, request.count)
      if count < 0, errno == EINTR || errno == ENOENT { continue }
      guard count >= 40 else { return }
      let (error, body) = answer(Array(request[..<count]), names)
      guard let body else { continue }
      var message = bytes(UInt32(16 + body.count)) + bytes(Int32(-error))
      message += request[8..<16] + body
      _ = message.withUnsafeBytes { write(device, $0.baseAddress, $0.count) }
    }
  }

  /// The errno and the body of the answer; nil where none is sent.
  private static func answer(_ request: [UInt8], _ names: Int) -> (error: CInt, body: [UInt8]?) {
    func word(_ offset: Int) -> UInt32 {
      request.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }
    let node = UInt64(word(16))
    switch word(4) {
    case 1: return node == 1 && request[40] == UInt8(ascii: "d") ? (0, entry) : (ENOENT, [])
    case 2, 42: return (0, nil)
    case 3, 4: return (0, bytes(UInt64(60)) + bytes(UInt64(0)) + attributes(node))
    case 11: return (ENOTEMPTY, [])
    case 17: return (0, [UInt8](repeating: 0, count: 80))
    case 26: return (0, bytes(UInt32(7)) + bytes(UInt32(31)) + [UInt8](repeating: 0, count: 56))
    case 27: return (0, [UInt8](repeating: 0, count: 16))
    case 28: return (0, node == 2 ? listing(from: UInt64(word(48)) | UInt64(word(52)) << 32, names) : [])
    case 29, 38: return (0, [])
    default: return (ENOSYS, [])
    }
  }

  private static func listing(from offset: UInt64, _ names: Int) -> [UInt8] {
    var body: [UInt8] = []
    var number = offset
    while number < names, body.count + 40 <= 4096 {
      number += 1
      let name = Array("f\(number)".utf8)
      body += bytes(1000 + number) + bytes(number) + bytes(UInt32(name.count)) + bytes(UInt32(8)) + name
      body += [UInt8](repeating: 0, count: (8 - name.count % 8) % 8)
    }
    return body
  }

  private static var entry: [UInt8] {
    bytes(UInt64(2)) + [UInt8](repeating: 0, count: 32) + attributes(2)
  }

  private static func attributes(_ node: UInt64) -> [UInt8] {
    let start: [UInt8] = bytes(node) + [UInt8](repeating: 0, count: 52)
    return start + bytes(UInt32(0o40700)) + bytes(UInt32(2)) + [UInt8](repeating: 0, count: 20)
  }

  private static func bytes<Value>(_ value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
}
