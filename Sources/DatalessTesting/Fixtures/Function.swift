/// Runs `body` on a volume of its own, ends it, whatever happens, and holds what is expected against the whole log.
///
///     try await withDatalessVolume(["a": "1", "b": 48000], latency: .milliseconds(20), maxFiles: 1) { volume in
///       try await volume.run("cat", "{}/a")
///       #expect(try await volume.materialized(by: "cat") == ["a"])
///     }
///
/// Arguments are those of `VolumeOptions`. Throws what `body` throws; an `ExpectationFailure` with who, what and the
/// stack; a `DatalessError` when the volume cannot be mounted.
public func withDatalessVolume<Value>(
  _ source: VolumeSource = [:], scenario: String? = nil, latency: Duration? = nil, maxFiles: Int? = nil,
  settings: [String: JSONValue] = [:], rules: [JSONValue] = [], expecting bounds: [Bound] = [],
  expect: [JSONValue] = [], mountOptions: [String] = [], executable: String? = nil, filePath: String = #filePath,
  isolation: isolated (any Actor)? = #isolation, _ body: (DatalessVolume) async throws -> Value
) async throws -> Value {
  let options = VolumeOptions(
    source, scenario: scenario, latency: latency, maxFiles: maxFiles, settings: settings, rules: rules,
    expecting: bounds, expect: expect, mountOptions: mountOptions, executable: executable, filePath: filePath)
  return try await withDatalessVolume(options, body)
}

/// The same, with options that were made before.
public func withDatalessVolume<Value>(
  _ options: VolumeOptions, isolation: isolated (any Actor)? = #isolation,
  _ body: (DatalessVolume) async throws -> Value
) async throws -> Value {
  let volume = try await DatalessVolume.mount(options)
  do {
    let result = try await body(volume)
    try await volume.check()
    await volume.close()
    return result
  } catch {
    await volume.close()
    throw error
  }
}
