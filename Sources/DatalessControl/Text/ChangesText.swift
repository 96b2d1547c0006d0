/// What was changed on a volume, in one line.
public enum ChangesText {
  public static func line(_ changes: ChangeCounts) -> String {
    "\(HumanText.count(changes.dirtyFiles, "file")) written (\(HumanText.size(changes.dirtyBytes))), "
      + "\(HumanText.count(changes.namesMade, "name")) made, \(HumanText.count(changes.namesRemoved, "name")) removed"
  }
}
