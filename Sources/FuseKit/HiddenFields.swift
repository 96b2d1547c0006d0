internal import CFuse3
internal import Glibc

/// What a request says and libfuse 3.14 keeps from its callbacks.
///
/// It is taken from the raw bytes before libfuse sees them, and belongs to the thread that has read them: the same
/// thread runs the callback. Sessions that are mounted read-only never get such requests and take nothing.
struct HiddenFields: Equatable {
  /// The flags of the request itself: open_flags of OPEN and CREATE, write_flags of WRITE, valid of SETATTR; else 0.
  var flags: UInt32 = 0
  /// Whether what libfuse takes for a CREATE is a TMPFILE, which it does not know.
  var isTemporary = false

  /// Takes them from a request, and makes a CREATE of a TMPFILE: its body is the same, with the name "/".
  ///
  /// - Parameter request: As the kernel wrote it; at least its header.
  init(takenFrom request: UnsafeMutableRawBufferPointer) {
    let header = MemoryLayout<fuse_in_header>.size
    func word(_ index: Int) -> UInt32 {
      let offset = header + 4 * index
      return offset + 4 <= request.count ? request.loadUnaligned(fromByteOffset: offset, as: UInt32.self) : 0
    }
    let opcode = request.loadUnaligned(fromByteOffset: Self.opcodeOffset, as: UInt32.self)
    switch FuseRequestKind(rawValue: opcode) {
    case .setattr: flags = word(0)
    case .open: flags = word(1)
    case .write: flags = word(5)
    case .create: flags = word(3)
    case .tmpfile:
      flags = word(3)
      isTemporary = true
      request.storeBytes(of: FuseRequestKind.create.rawValue, toByteOffset: Self.opcodeOffset, as: UInt32.self)
    default: break
    }
  }

  private static let opcodeOffset = 4

  // MARK: - The request that the calling thread is at

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let failure = pthread_key_create(&key, nil)
    precondition(failure == 0, "no thread-specific storage left for the fields that libfuse hides")
    return key
  }()

  /// Keeps them for the callback. They are the value itself, not where it lies: nothing is to be freed.
  func keep() {
    let word = UInt(flags) | (isTemporary ? Self.temporary : 0)
    pthread_setspecific(Self.key, UnsafeRawPointer(bitPattern: word))
  }

  /// Those of the request that the calling thread has read last.
  static var kept: HiddenFields {
    let word = UInt(bitPattern: pthread_getspecific(key))
    return HiddenFields(flags: UInt32(truncatingIfNeeded: word), isTemporary: word & temporary != 0)
  }

  /// Of a session to which no such request comes.
  static let none = HiddenFields(flags: 0, isTemporary: false)

  private init(flags: UInt32, isTemporary: Bool) {
    self.flags = flags
    self.isTemporary = isTemporary
  }

  private static let temporary: UInt = 1 << 32
}

extension RequestContext {
  /// The context of a request whose hidden flags say whether set-id bits are to be cleared.
  ///
  /// - Parameter flag: The bit of `HiddenFields.flags` that says so.
  init(_ request: fuse_req_t, _ dispatcher: Dispatcher, clearingSetIDIf flag: UInt32) {
    self.init(request)
    clearsSetID = dispatcher.hiddenFields.flags & flag != 0
  }
}
