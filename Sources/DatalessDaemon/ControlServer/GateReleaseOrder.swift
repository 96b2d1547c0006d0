public import DatalessCore

/// A checked request to release what a gate holds.
public struct GateReleaseOrder: Sendable {
  public var gate: String
  public var selection: GateSelection
  public var release: GateRelease
}
