import DatalessControl

/// A volume's profile and presentation in one line each.
enum ProfileText {
  static func profile(_ profile: ProfileStatus) -> String {
    var text = "\(profile.name): files by \(profile.files.joined(separator: ", ")); directories by "
    text += "\(profile.directories.joined(separator: ", ")); \(errnos(profile.errnos))"
    if profile.directoryErrnos != profile.errnos { text += "; directories \(errnos(profile.directoryErrnos))" }
    return text
  }

  /// In the order in which they can happen.
  static func errnos(_ errnos: [String: String]) -> String {
    ["refused", "offline", "timeout", "superseded", "gone", "failed"].compactMap { key in
      errnos[key].map { "\(key) \($0)" }
    }.joined(separator: ", ")
  }

  static func presentation(_ present: PresentationStatus) -> String {
    let listed = present.stateListed ? " (listed)" : ""
    return
      "blocks \(present.blocks), ctime \(present.ctime), seek \(present.seek), state \(present.state ?? "none")\(listed), "
      + "type fuse.\(present.subtype)"
  }
}
