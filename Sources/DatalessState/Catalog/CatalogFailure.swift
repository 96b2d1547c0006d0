internal import CSQLite
import DatalessCore
internal import SystemPackage

/// What SQLite says when something goes wrong.
struct CatalogFailure: Error {
  /// Its extended result code.
  let code: CInt
  /// The errno of the system call that failed, if one has.
  let system: CInt
  let message: String

  /// What whoever waits is answered with.
  var errno: Errno {
    switch code & 0xff {
    case SQLITE_FULL: .noSpace
    case SQLITE_READONLY: .readOnlyFileSystem
    case SQLITE_NOMEM: .noMemory
    case SQLITE_BUSY, SQLITE_LOCKED: .resourceBusy
    case SQLITE_IOERR, SQLITE_CANTOPEN:
      switch Errno(rawValue: system) {
      case .noSpace, .diskQuota, .readOnlyFileSystem, .permissionDenied, .tooManyOpenFiles: Errno(rawValue: system)
      default: .ioError
      }
    default: .ioError
    }
  }

  /// Whether the file is not what it was written as.
  var isDamage: Bool { code & 0xff == SQLITE_CORRUPT || code & 0xff == SQLITE_NOTADB }

  /// The error of a whole access, whoever threw it.
  static func answer(_ error: any Error, _ what: String) -> FSError {
    switch error {
    case let error as FSError: return error
    case let error as Damage: return FSError(.ioError, "\(what): it is damaged: \(error). Run 'dataless check'")
    case let error as CatalogFailure: return error.answer(what)
    default: return FSError(.ioError, "\(what): \(error)")
    }
  }

  private func answer(_ what: String) -> FSError {
    isDamage
      ? FSError(.ioError, "\(what): the catalog is damaged (\(message)). Run 'dataless check'")
      : FSError(errno, "\(what): \(message)")
  }
}

extension Errno {
  /// EDQUOT.
  fileprivate static let diskQuota = Errno(rawValue: 122)
}
