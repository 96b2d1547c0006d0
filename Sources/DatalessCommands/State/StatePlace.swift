import DatalessControl
import DatalessCore
import DatalessState
import Glibc
import SystemPackage

/// A state directory that was named on the command line, for commands that work without a volume.
struct StatePlace {
  let directory: StateDirectory
  /// Absolute.
  let path: [UInt8]

  /// - Parameter use: Not `.keep`: nothing is made here.
  init(_ argument: PathArgument, _ use: StateDirectory.Use) throws(CommandFailure) {
    let trusted: TrustedDirectory
    do throws(UntrustedPath) {
      trusted = try TrustedDirectory.open(Self.absolute(argument), ancestors: .any)
    } catch {
      let remedy =
        switch error.reason {
        case .permissions: "Make it yours alone (chmod go-w)."
        default: "Name a directory that 'dataless mount --state' has made, as the user who mounts it."
        }
      throw CommandFailure("cannot use the state directory: \(error). \(remedy)", errno: error.errno)
    }
    do throws(FSError) {
      directory = try StateDirectory(trusted.descriptor, path: TerminalText.escaped(trusted.path), use)
    } catch {
      let remedy =
        switch error.errno {
        case .resourceBusy: " Unmount its volume first."
        // The lock is the first that would be written.
        case .readOnlyFileSystem where use == .repair: " Use --dry-run, which writes nothing."
        default: ""
        }
      throw CommandFailure("\(error.description).\(remedy)", errno: error.errno)
    }
    path = trusted.path
  }

  static func absolute(_ argument: PathArgument) -> [UInt8] {
    guard argument.bytes.first != UInt8(ascii: "/"), let buffer = getcwd(nil, 0) else { return argument.bytes }
    defer { free(buffer) }
    let here = UnsafeBufferPointer(start: buffer, count: strlen(buffer)).map { UInt8(bitPattern: $0) }
    return PathBytes.absolute(argument.bytes, from: here)
  }
}
