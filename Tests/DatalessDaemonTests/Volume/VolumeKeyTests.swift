@testable import DatalessCore
@testable import DatalessDaemon

import DatalessControl
import Testing

@Suite struct VolumeKeyTests {
  private func key() throws -> NameHashKey {
    let scratch = ScratchDirectory()
    let volume = try Volume(
      configuration: VolumeConfiguration(
        source: .synthetic("synthetic:files=1"), mountpoint: scratch.bytes("none"), log: scratch.bytes("log"),
        cacheDirectory: scratch.bytes("cache"), runtimeDirectory: "\(scratch.path)/runtime", session: "0123456789ab"))
    defer { _ = volume.log.close(timeout: .seconds(1)) }
    return volume.engine.configuration.nameKey
  }

  /// A SOURCE that knew the key could have names that all lie in one chain.
  @Test func eachVolumeHashesNamesWithItsOwnKey() throws {
    let keys = [try key(), try key()]
    #expect(keys[0] != keys[1])
    #expect(keys.allSatisfy { $0.low != 0 && $0.high != 0 })
  }
}
