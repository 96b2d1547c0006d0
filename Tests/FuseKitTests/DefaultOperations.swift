@testable import FuseKit

/// A file system that implements nothing.
final class DefaultOperations: FuseOperations {}
