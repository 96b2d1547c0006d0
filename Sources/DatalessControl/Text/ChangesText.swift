/// What was changed on a volume, in one line.
public enum ChangesText {
  public static func line(_ changes: ChangeCounts) -> String {
    let attributes =
      changes.otherAttributes > 0 ? ", \(HumanText.count(changes.otherAttributes, "item")) with other attributes" : ""
    return "\(HumanText.count(changes.dirtyFiles, "file")) written (\(HumanText.size(changes.dirtyBytes))), "
      + "\(HumanText.count(changes.namesMade, "name")) made, \(HumanText.count(changes.namesRemoved, "name")) removed"
      + attributes
  }

  /// Of a volume that keeps its changes: what was kept before is counted when somebody looks into its directory.
  public static func lineOfKept(_ changes: ChangeCounts) -> String {
    line(changes) + ", of what was looked into since the mount"
  }
}
