/// A client of `libcdataless` that asks for accesses and presents as it is told, line by line.
struct CoordinatingClient {
  let child: Child

  init() async throws { child = try Child([try await ClientProgram.coordinate.path()], timeLimit: .seconds(60)) }

  func callAsFunction(_ line: String) async -> String? {
    child.send(line)
    return await child.line()
  }
}
