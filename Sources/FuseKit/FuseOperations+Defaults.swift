internal import SystemPackage

/// The defaults; `FuseOperations` says for each request why.
extension FuseOperations {
  public func initialized(_ features: NegotiatedFeatures) {}

  public func destroyed() {}

  public func lookup(_ name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EntryReply) {
    reply.fail(.noSuchFileOrDirectory)
  }

  public func forget(_ nodes: UnsafeBufferPointer<ForgottenNode>) {}

  public func readlink(_ node: FuseNode, context: RequestContext, reply: consuming LinkReply) {
    reply.fail(.invalidArgument)
  }

  public func mknod(
    _ name: FuseName, in parent: FuseNode, mode: UInt32, device: UInt64, context: RequestContext,
    reply: consuming EntryReply
  ) {
    reply.fail(.notPermitted)
  }

  public func mkdir(
    _ name: FuseName, in parent: FuseNode, mode: UInt32, context: RequestContext, reply: consuming EntryReply
  ) {
    reply.fail(.notPermitted)
  }

  public func unlink(_ name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EmptyReply) {
    reply.fail(.notPermitted)
  }

  public func rmdir(_ name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EmptyReply) {
    reply.fail(.notPermitted)
  }

  public func symlink(
    _ name: FuseName, in parent: FuseNode, target: FuseName, context: RequestContext, reply: consuming EntryReply
  ) {
    reply.fail(.notPermitted)
  }

  public func rename(
    _ name: FuseName, in parent: FuseNode, to newName: FuseName, in newParent: FuseNode, flags: RenameFlags,
    context: RequestContext, reply: consuming EmptyReply
  ) {
    reply.fail(.notPermitted)
  }

  public func link(
    _ node: FuseNode, as name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EntryReply
  ) {
    reply.fail(.notPermitted)
  }

  public func getattr(_ node: FuseNode, handle: FuseHandle?, context: RequestContext, reply: consuming AttributesReply)
  {
    reply.fail(.noSuchFileOrDirectory)
  }

  public func setattr(
    _ node: FuseNode, changes: AttributeChanges, context: RequestContext, reply: consuming AttributesReply
  ) {
    reply.fail(.notPermitted)
  }

  public func access(_ node: FuseNode, mask: Int32, context: RequestContext, reply: consuming EmptyReply) {
    reply.fail(.noFunction)
  }

  public func statfs(_ node: FuseNode, context: RequestContext, reply: consuming StatisticsReply) {
    reply.statistics(FileSystemStatistics(blockSize: 512))
  }

  public func open(_ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply) {
    _ = reply.opened(FuseHandle(rawValue: 0), options: .keepCache)
  }

  public func create(
    _ name: FuseName, in parent: FuseNode, mode: UInt32, flags: Int32, context: RequestContext,
    reply: consuming CreateReply
  ) {
    reply.fail(.noFunction)
  }

  public func tmpfile(
    in parent: FuseNode, mode: UInt32, flags: Int32, context: RequestContext, reply: consuming CreateReply
  ) {
    reply.fail(.noFunction)
  }

  public func read(_ node: FuseNode, _ request: ReadRequest, context: RequestContext, reply: consuming DataReply) {
    reply.fail(.ioError)
  }

  public func write(_ node: FuseNode, _ request: WriteRequest, context: RequestContext, reply: consuming WriteReply) {
    reply.fail(.ioError)
  }

  public func flush(
    _ node: FuseNode, handle: FuseHandle, lockOwner: UInt64, context: RequestContext, reply: consuming EmptyReply
  ) {
    reply.fail(.noFunction)
  }

  public func release(
    _ node: FuseNode, handle: FuseHandle, flags: Int32, context: RequestContext, reply: consuming EmptyReply
  ) {
    reply.succeed()
  }

  public func fsync(
    _ node: FuseNode, handle: FuseHandle, dataOnly: Bool, context: RequestContext, reply: consuming EmptyReply
  ) {
    reply.fail(.noFunction)
  }

  public func lseek(
    _ node: FuseNode, handle: FuseHandle, offset: Int64, target: SeekTarget, context: RequestContext,
    reply: consuming SeekReply
  ) {
    reply.fail(.noFunction)
  }

  public func copyFileRange(_ request: CopyRequest, context: RequestContext, reply: consuming WriteReply) {
    reply.fail(.noFunction)
  }

  public func fallocate(
    _ node: FuseNode, handle: FuseHandle, mode: Int32, offset: Int64, length: Int64, context: RequestContext,
    reply: consuming EmptyReply
  ) {
    reply.fail(.noFunction)
  }

  public func ioctl(
    _ node: FuseNode, handle: FuseHandle, command: UInt32, input: UnsafeRawBufferPointer, outputSize: Int,
    context: RequestContext, reply: consuming IoctlReply
  ) {
    reply.fail(.inappropriateIOCTLForDevice)
  }

  public func opendir(_ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply) {
    _ = reply.opened(FuseHandle(rawValue: 0), options: [])
  }

  public func readdir(
    _ node: FuseNode, handle: FuseHandle, cookie: Int64, context: RequestContext, reply: consuming DirectoryReply
  ) {
    reply.fail(.notDirectory)
  }

  public func readdirplus(
    _ node: FuseNode, handle: FuseHandle, cookie: Int64, context: RequestContext, reply: consuming DirectoryReply
  ) {
    reply.fail(.notDirectory)
  }

  public func releasedir(
    _ node: FuseNode, handle: FuseHandle, flags: Int32, context: RequestContext, reply: consuming EmptyReply
  ) {
    reply.succeed()
  }

  public func fsyncdir(
    _ node: FuseNode, handle: FuseHandle, dataOnly: Bool, context: RequestContext, reply: consuming EmptyReply
  ) {
    reply.fail(.noFunction)
  }

  public func setxattr(
    _ node: FuseNode, name: FuseName, value: UnsafeRawBufferPointer, flags: Int32, context: RequestContext,
    reply: consuming EmptyReply
  ) {
    reply.fail(.noFunction)
  }

  public func getxattr(_ node: FuseNode, name: FuseName, context: RequestContext, reply: consuming XattrReply) {
    reply.fail(.noFunction)
  }

  public func listxattr(_ node: FuseNode, context: RequestContext, reply: consuming XattrReply) {
    reply.fail(.noFunction)
  }

  public func removexattr(_ node: FuseNode, name: FuseName, context: RequestContext, reply: consuming EmptyReply) {
    reply.fail(.noFunction)
  }
}
