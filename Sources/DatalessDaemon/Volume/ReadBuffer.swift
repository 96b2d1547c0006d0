import Glibc

/// One buffer for each thread that answers reads, kept for the next: a fresh MiB costs 256 page faults.
enum ReadBuffer {
  /// LIMIT: the largest READ the kernel sends (256 pages).
  private static let capacity = 1 << 20

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let failure = pthread_key_create(&key) { free($0) }
    precondition(failure == 0, "no thread-specific storage left for the read buffer")
    return key
  }()

  /// The calling thread's buffer, `size` bytes of it; valid until its next call on this thread. nil when there is no
  /// memory for it, or when the kernel asks for more than was negotiated.
  static func current(size: Int) -> UnsafeMutableRawBufferPointer? {
    guard 0...capacity ~= size else { return nil }
    if let buffer = pthread_getspecific(key) {
      return UnsafeMutableRawBufferPointer(start: buffer, count: size)
    }
    guard let buffer = malloc(capacity) else { return nil }
    pthread_setspecific(key, buffer)
    return UnsafeMutableRawBufferPointer(start: buffer, count: size)
  }
}
