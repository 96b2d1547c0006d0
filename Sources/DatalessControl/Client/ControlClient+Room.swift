/// Requests about what stays here, and what goes.
extension ControlClient {
  /// Gives items a content policy. What it wants to be here is fetched in the background.
  ///
  /// - Parameter policy: As `PinRequest.policy`.
  public func pin(_ paths: [[UInt8]], policy: String? = nil) async throws -> TransferResult {
    let request = PinRequest(paths: paths.map { WirePath($0) }, policy: policy)
    return try await follow(TransferLine.self, route: .pin, request: request) { _ in }
  }

  /// Ends that items are pinned.
  public func unpin(_ paths: [[UInt8]]) async throws -> TransferResult {
    let request = PathsRequest(paths: paths.map { WirePath($0) })
    return try await follow(TransferLine.self, route: .unpin, request: request) { _ in }
  }

  /// Simulates that the disk gets full: so much local content goes, or as much as can.
  public func press(
    _ bytes: Int64, progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
  ) async throws -> TransferResult {
    try await follow(
      TransferLine.self, route: .pressure, request: PressureRequest(bytes: bytes), progress: progress)
  }

  /// How much room there is, and what could go for more.
  public func capacity() async throws -> CapacityAnswer { try await call(.capacity) }

  /// Adds up what is stored below a path. - Parameter mark: As `InventoryRequest.since`.
  public func inventory(
    _ path: [UInt8], since mark: String? = nil, progress: @escaping @Sendable (InventoryProgress) -> Void = { _ in }
  ) async throws -> InventoryReport {
    let request = InventoryRequest(path: WirePath(path), since: mark)
    return try await follow(InventoryLine.self, route: .inventory, request: request, progress: progress)
  }
}
