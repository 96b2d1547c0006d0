import DatalessControl
import DatalessCore
import HummingbirdCore

/// What stays here, and what goes.
extension ControlRequestHandler {
  func room(_ route: ControlRoute, _ request: Request, _ current: RunningRequest) async throws -> Response {
    switch route {
    case .pressure:
      let bytes = try await Self.decode(PressureRequest.self, request).bytes
      guard bytes > 0 else { throw Self.invalid("`bytes` must be 1 or more") }
      return stream(TransferLine.self, for: current) { try await backend.press(bytes, progress: $0) }
    case .unpin:
      let paths = try await Self.paths(request)
      return stream(TransferLine.self, for: current) { _ in try await backend.unpin(paths) }
    default:
      let body = try await Self.decode(PinRequest.self, request)
      let paths = try Self.checked(body.paths)
      guard let policy = ContentPolicy(rawValue: body.policy ?? ContentPolicy.eager.rawValue) else {
        let known = ContentPolicy.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        throw Self.senseless("`policy` must be one of \(known)")
      }
      return stream(TransferLine.self, for: current) { _ in try await backend.pin(paths, policy: policy) }
    }
  }
}
