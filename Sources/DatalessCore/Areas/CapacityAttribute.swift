/// The extended attribute by which programs read how much room a volume has, on any of its items: free, important and
/// opportunistic, in bytes. Nobody can set it.
public enum CapacityAttribute {
  public static let name = "user.dataless.capacity"
  static let bytes = Array(name.utf8)
}
