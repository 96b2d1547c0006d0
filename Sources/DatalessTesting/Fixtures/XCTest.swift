public import XCTest

extension XCTestCase {
  /// A volume of its own for this test, which ends with it; what is expected is held against the whole log then, and
  /// what does not hold fails the test. Arguments are those of `VolumeOptions`. Throws a `DatalessError` when it
  /// cannot be mounted.
  public func datalessVolume(
    _ source: VolumeSource = [:], scenario: String? = nil, latency: Duration? = nil, maxFiles: Int? = nil,
    settings: [String: JSONValue] = [:], rules: [JSONValue] = [], expecting bounds: [Bound] = [],
    expect: [JSONValue] = [], mountOptions: [String] = [], executable: String? = nil, filePath: String = #filePath
  ) async throws -> DatalessVolume {
    let options = VolumeOptions(
      source, scenario: scenario, latency: latency, maxFiles: maxFiles, settings: settings, rules: rules,
      expecting: bounds, expect: expect, mountOptions: mountOptions, executable: executable, filePath: filePath)
    let volume = try await DatalessVolume.mount(options)
    addTeardownBlock {
      do { try await volume.check() } catch {
        await volume.close()
        throw error
      }
      await volume.close()
    }
    return volume
  }
}
