public import DatalessCore
import DatalessStores

/// What the command line may know of synthetic sources: whether a text means one, and whether it is well formed.
public enum SyntheticSource {
  /// Whether `text` starts like a specification (`synthetic:`) and hence is no directory.
  public static func isSpecification(_ text: String) -> Bool { SyntheticSpecification.isSpecification(text) }

  /// - Throws: EINVAL, naming the part of the specification that is wrong and what is expected.
  public static func check(_ text: String) throws(FSError) { _ = try SyntheticSpecification(parsing: text) }
}
