/// What was changed on the volume and in SOURCE.
extension ControlClient {
  /// Lists the conflicts at paths and below them; or resolves them, as `keep` says it.
  ///
  /// - Parameter keep: As `ConflictRequest.keep`.
  public func conflicts(_ paths: [[UInt8]], keep: String? = nil) async throws -> ConflictAnswer {
    let request = ConflictRequest(paths: paths.map { WirePath($0) }, keep: keep)
    return try await call(.conflicts, body: try WireCoding.encode(request), patience: .seconds(50))
  }
}
