import Synchronization
public import Testing

/// A volume for each test: `@Test(.datalessVolume(latency: .milliseconds(200), maxFiles: 3))`. Of a suite, each of
/// its tests has one of its own, unless the test has the trait itself.
public struct DatalessVolumeTrait: TestTrait, SuiteTrait, TestScoping {
  let options: VolumeOptions
  let sourceLocation: SourceLocation

  /// Tests in suites below have a volume each, too.
  public var isRecursive: Bool { true }

  /// Mounts, runs the test, unmounts, and records what was expected and does not hold as an issue of the test.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let nearest = test.traits.last { $0 is DatalessVolumeTrait } as? DatalessVolumeTrait
    if let nearest, nearest.sourceLocation != sourceLocation { return try await function() }
    let volume = try await DatalessVolume.mount(options)
    let hasFailed = Flag()
    do {
      try await DatalessVolume.$scoped.withValue(volume) {
        try await Self.watch(test, testCase, onIssue: { hasFailed.set() }, function)
      }
      if hasFailed.isSet { await record(volume, isJudged: true) }
    } catch {
      await record(volume, isJudged: false)
      await volume.close()
      throw error
    }
    do { try await volume.check() } catch {
      Issue.record(Comment(rawValue: "\(error)"), sourceLocation: sourceLocation)
    }
    await volume.close()
  }

  /// What a failed expectation of the test itself does not say: who did what on the volume.
  private func record(_ volume: DatalessVolume, isJudged: Bool) async {
    let story = await volume.story(isJudged: isJudged)
    Issue.record("\(volume.path):\n\(story)", sourceLocation: sourceLocation)
  }

  /// Runs the test; whether it has failed without throwing can be known since Swift 6.2.
  private static func watch(
    _ test: Test, _ testCase: Test.Case?, onIssue: @escaping @Sendable () -> Void,
    _ function: @Sendable () async throws -> Void
  ) async throws {
    #if compiler(>=6.2)
      let watching: IssueHandlingTrait = .compactMapIssues { issue in
        onIssue()
        return issue
      }
      try await watching.provideScope(for: test, testCase: testCase, performing: function)
    #else
      try await function()
    #endif
  }
}

private final class Flag: Sendable {
  private let value = Mutex(false)
  var isSet: Bool { value.withLock { $0 } }
  func set() { value.withLock { $0 = true } }
}

extension Trait where Self == DatalessVolumeTrait {
  /// A volume of its own for each test, as `DatalessVolume.current`. Arguments are those of `VolumeOptions`. What is
  /// expected is held against the whole log when the test has ended. A volume that cannot be mounted fails the test.
  public static func datalessVolume(
    _ source: VolumeSource = [:], scenario: String? = nil, latency: Duration? = nil, maxFiles: Int? = nil,
    settings: [String: JSONValue] = [:], rules: [JSONValue] = [], expecting bounds: [Bound] = [],
    expect: [JSONValue] = [], mountOptions: [String] = [], executable: String? = nil, filePath: String = #filePath,
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> DatalessVolumeTrait {
    DatalessVolumeTrait(
      options: VolumeOptions(
        source, scenario: scenario, latency: latency, maxFiles: maxFiles, settings: settings, rules: rules,
        expecting: bounds, expect: expect, mountOptions: mountOptions, executable: executable, filePath: filePath),
      sourceLocation: sourceLocation)
  }
}

extension DatalessVolume {
  @TaskLocal static var scoped: DatalessVolume?

  /// The volume of the test that runs, which has the trait `.datalessVolume`. Throws a `DatalessError` (`usage`)
  /// where there is none, also in detached tasks.
  public static var current: DatalessVolume {
    get throws {
      if let scoped { return scoped }
      throw DatalessError("this test has no volume. Give it the trait .datalessVolume(...).", code: "usage")
    }
  }
}
