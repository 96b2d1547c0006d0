extension ControlClient {
  /// Makes the volume as if it were freshly mounted. - Throws: EBUSY, with the names of what stands in the way.
  public func reset() async throws -> ResetAnswer { try await call(.reset, patience: .seconds(600)) }
}
