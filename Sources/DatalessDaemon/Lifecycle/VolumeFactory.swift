/// The one place where the lifecycle meets the volume.
enum VolumeFactory {
  static func make(_ configuration: VolumeConfiguration) throws -> any VolumeRunning {
    try Volume(configuration: configuration)
  }
}
