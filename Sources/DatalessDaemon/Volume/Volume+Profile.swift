import DatalessControl
import DatalessCore
import SystemPackage

/// Profile and presentation as the control API shows them.
extension ProfileStatus {
  init(_ profile: Profile) {
    self.init(
      name: profile.name, files: profile.triggerNames(of: .file), directories: profile.triggerNames(of: .directory),
      errnos: Self.names(profile.fileErrnos), directoryErrnos: Self.names(profile.directoryErrnos),
      residentChanges: profile.residentChanges.rawValue)
  }

  static func names(_ errnos: Profile.Errnos) -> [String: String] {
    var names = [
      "refused": errnos.refused.name, "offline": errnos.offline.name, "timeout": errnos.timeout.name,
      "superseded": errnos.superseded.name, "gone": errnos.gone.name,
    ]
    names["failed"] = errnos.failed?.name
    return names
  }
}

extension PresentationStatus {
  init(_ presentation: Presentation, subtype: String) {
    self.init(
      blocks: presentation.blocks.rawValue, ctime: presentation.changeTime.rawValue, seek: presentation.seek.rawValue,
      state: presentation.state.map { String(decoding: $0.name, as: UTF8.self) },
      stateListed: presentation.state?.isListed ?? false, subtype: subtype)
  }
}
