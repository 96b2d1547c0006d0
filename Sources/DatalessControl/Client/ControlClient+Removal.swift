/// Requests that remove things.
extension ControlClient {
  /// Removes paths, directories with all that is below them: all, or nothing.
  public func remove(_ paths: [[UInt8]]) async throws -> RemoveAnswer {
    let request = PathsRequest(paths: paths.map { WirePath($0) })
    return try await call(.remove, body: try WireCoding.encode(request), patience: .seconds(600))
  }
}
