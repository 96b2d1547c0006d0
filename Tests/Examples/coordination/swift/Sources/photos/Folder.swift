import Glibc

/// What the browser has open.
struct Folder {
  /// Its pictures, by name.
  let paths: [String]

  init?(_ path: String) {
    guard let listing = opendir(path) else { return nil }
    defer { closedir(listing) }
    var found: [String] = []
    while let entry = readdir(listing) {
      guard entry.pointee.d_type == UInt8(DT_REG) else { continue }
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      found.append("\(path)/\(name)")
    }
    paths = found.sorted()
  }
}

/// A picture's bytes, thrown away.
func readAll(_ path: String) -> Bool {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return false }
  defer { close(file) }
  return withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
    var count = 0
    repeat { count = read(file, buffer.baseAddress, buffer.count) } while count > 0
    return count == 0
  }
}
