/// What is to be done after the lock is released.
enum Action {
  case invalidateAttributes(NodeID)
  case complete(Waiter, WaitResult)
  case call(@Sendable () -> Void)
  case delay(attempt: AttemptID, until: MonotonicTime)
  case giveUp(attempt: AttemptID, at: MonotonicTime)
  case cancelTimer(TimerToken)
  case fetch(AttemptID)
  case cancel(any AttemptJob)
  case remove(ContentID)
  /// A file without a name, which may hold content.
  case dispose(NodeID)
  /// A file that has become resident, and a rule that evicts.
  case planEviction(NodeID)
  /// An attempt that has ended, and has waiters.
  case end(AttemptEnding)
  /// To be called when all changes up to a number are durable, or cannot become so.
  case whenDurable(ChangeNumber, @Sendable (FSError?) -> Void)
  /// More attempts wait for free slots than may be begun under one hold of the lock.
  case fillSlots
  /// Somebody may have room now, or has to wait for it.
  case settleRoom
  /// A directory of a removed tree can be emptied now.
  case emptyTrash
  /// What the content policies want to be here.
  case fetchEagerly([NodeID])
}
