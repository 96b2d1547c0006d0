internal import CDataless

/// What an intent is for, beside its paths.
public struct AccessOptions: OptionSet, Sendable {
  public let rawValue: Int32

  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Nothing is made local.
  public static let withoutMaterialization = Self(rawValue: DATALESS_COORDINATE_WITHOUT_MATERIALIZATION)
  /// Only names and attributes are of interest: nothing is made local either.
  public static let metadataOnly = Self(rawValue: DATALESS_COORDINATE_METADATA_ONLY)
  /// What is written is moved, deleted or replaced whole: its content is not made local.
  public static let moving = Self(rawValue: DATALESS_COORDINATE_MOVING)
  public static let deleting = Self(rawValue: DATALESS_COORDINATE_DELETING)
  public static let replacing = Self(rawValue: DATALESS_COORDINATE_REPLACING)
}
