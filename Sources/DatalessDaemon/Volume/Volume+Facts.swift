import DatalessCore
import DatalessState
import FuseKit
import Glibc
import SystemPackage

/// What the volume is and what it may use, for the log and for `status`.
extension Volume {
  var ownPID: Int32 { getpid() }

  /// The options in force, with units in their names; absent ones are unlimited.
  var options: [String: Fact] {
    var options: [String: Fact] = [
      "allow_other": .flag(configuration.allowOther), "cross_mounts": .flag(configuration.crossMounts),
    ]
    let simulation = engine.simulation
    options["argv"] = .text(configuration.argumentPolicy.rawValue)
    options["profile"] = .text(simulation.profile.name)
    Self.describe(simulation.presentation, subtype: configuration.subtype, in: &options)
    Self.describe(simulation.latency, as: "latency", in: &options)
    Self.describe(simulation.directoryLatency, as: "directory_latency", in: &options)
    for operation in AccessOperation.allCases {
      guard let model = simulation.access[operation] else { continue }
      Self.describe(model, as: "access_" + operation.rawValue, in: &options)
    }
    options["hydration"] = .text(simulation.hydration.rawValue)
    options["observe"] = .text(simulation.observation.rawValue)
    options["stacks"] = .text(simulation.stacks.text)
    options["watchdog"] = .text(simulation.watchdog?.text ?? "off")
    options["interrupt"] = .text(simulation.interrupt.rawValue)
    options["materialize"] = .flag(simulation.materialize)
    if let rate = simulation.bandwidth { options["bandwidth_bytes_per_second"] = .number(rate) }
    if let rate = simulation.transferBandwidth { options["transfer_bandwidth_bytes_per_second"] = .number(rate) }
    if let limit = simulation.giveUpAfter { options["give_up_after_ns"] = .number(limit.rawValue) }
    if let interval = simulation.poll { options["poll_ns"] = .number(interval.rawValue) }
    if let limit = simulation.concurrency { options["concurrency"] = .number(Int64(limit)) }
    if let quota = simulation.quota { options["quota_bytes"] = .number(quota) }
    if !simulation.areas.isEmpty { options["areas"] = .text(Self.text(of: simulation.areas.list)) }
    if configuration.writing == .scratch { options["scratch"] = .flag(true) }
    if let state = configuration.state {
      options["state"] = .text(String(decoding: state, as: UTF8.self))
      options["state_backlog"] = .number(Int64(self.state?.journal.backlog ?? 0))
    }
    if let pid = configuration.endsWith { options["ends_with_pid"] = .number(Int64(pid)) }
    if !configuration.without.isEmpty {
      options["without"] = .text(configuration.without.map(\.rawValue).joined(separator: ","))
    }
    if let limit = configuration.run?.maxFiles { options["max_files"] = .number(limit) }
    if let limit = configuration.run?.maxBytes { options["max_bytes"] = .number(limit) }
    return options
  }

  /// LIMIT: areas that are named.
  private static let namedAreas = 20

  private static func text(of areas: [Area]) -> String {
    let names = areas.prefix(namedAreas).map(\.name).joined(separator: " ")
    return areas.count > namedAreas ? "\(names) and \(areas.count - namedAreas) more" : names
  }

  private static func describe(_ presentation: Presentation, subtype: String, in options: inout [String: Fact]) {
    options["present_blocks"] = .text(presentation.blocks.rawValue)
    options["present_ctime"] = .text(presentation.changeTime.rawValue)
    options["present_seek"] = .text(presentation.seek.rawValue)
    options["present_state"] = .text(presentation.state.map { String(decoding: $0.name, as: UTF8.self) } ?? "none")
    options["present_subtype"] = .text(subtype)
  }

  /// A fixed delay by its length, any other by the name of its distribution: the scenario has it all.
  private static func describe(_ model: LatencyModel, as name: String, in options: inout [String: Fact]) {
    if let delay = model.fixedDelay {
      options[name + "_ns"] = .number(delay.rawValue)
    } else {
      options[name] = .text(model.distribution.name)
    }
  }

  /// What the kernel granted, and how SOURCE is opened.
  var fastPaths: [String: Fact] {
    var facts: [String: Fact] = ["source_protection": .text(store.protection)]
    guard let features = adapter.negotiated else { return facts }
    facts["protocol"] = .text("\(features.kernelMajor).\(features.kernelMinor)")
    facts["parallel_dirops"] = .flag(features.parallelDirectoryOperations)
    facts["direct_io_mmap"] = .flag(features.directIOMapping)
    facts["readdirplus"] = .flag(features.readdirPlus)
    facts["posix_acl"] = .flag(features.posixACL)
    facts["cache_symlinks"] = .flag(features.cacheSymlinks)
    facts["passthrough"] = .flag(features.passthrough)
    facts["cached_absence"] = .flag(adapter.cachesAbsentNames)
    facts["max_background"] = .number(Int64(features.maxBackground))
    facts["dataless_reads"] = .text(adapter.opensDirectly ? "direct" : "page_cache")
    let isObserved = engine.simulation.servesReadsItself && adapter.opensDirectly
    let isPassed =
      engine.offersPassthrough && (configuration.writing == .readOnly || !engine.simulation.servesWritesItself)
    facts["resident_reads"] = .text(isObserved ? "direct" : isPassed ? "passthrough" : "page_cache")
    if let failure = adapter.backings.lastFailure { facts["passthrough_failure"] = .text(failure.name) }
    return facts
  }

  /// The version of the libfuse that is loaded.
  var libfuseVersion: String { FuseLibrary.version }
}
