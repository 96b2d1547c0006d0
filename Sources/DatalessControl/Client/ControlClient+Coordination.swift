extension ControlClient {
  /// Who coordinates accesses now, and who waits for whom.
  public func coordination() async throws -> CoordinationStatus { try await call(.coordination) }
}
