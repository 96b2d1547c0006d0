import DatalessCore
import FuseKit
import Glibc
import SystemPackage

/// What the volume is and what it may use, for the log and for `status`.
extension Volume {
  var ownPID: Int32 { getpid() }

  /// The options in force, with units in their names; absent ones are unlimited.
  var options: [String: Fact] {
    var options: [String: Fact] = [
      "latency_ns": .number(configuration.latencyNanoseconds),
      "directory_latency_ns": .number(configuration.directoryLatencyNanoseconds),
      "allow_other": .flag(configuration.allowOther),
      "cross_mounts": .flag(configuration.crossMounts),
      "profile": .text("macos"),
      "interrupt": .text(engine.simulation.interrupt.rawValue),
    ]
    if let bandwidth = configuration.bandwidthBytesPerSecond {
      options["bandwidth_bytes_per_second"] = .number(bandwidth)
    }
    if let concurrency = configuration.concurrency { options["concurrency"] = .number(Int64(concurrency)) }
    if !configuration.without.isEmpty {
      options["without"] = .text(configuration.without.map(\.rawValue).joined(separator: ","))
    }
    if let limit = configuration.run?.maxFiles { options["max_files"] = .number(limit) }
    if let limit = configuration.run?.maxBytes { options["max_bytes"] = .number(limit) }
    return options
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
    facts["resident_reads"] = .text(engine.offersPassthrough ? "passthrough" : "page_cache")
    if let failure = adapter.backings.lastFailure { facts["passthrough_failure"] = .text(failure.name) }
    return facts
  }

  /// uname(2)'s release.
  var kernelRelease: String {
    var name = utsname()
    guard uname(&name) == 0 else { return "unknown" }
    return withUnsafeBytes(of: &name.release) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  /// The version of the libfuse that is loaded.
  var libfuseVersion: String { FuseLibrary.version }
}
