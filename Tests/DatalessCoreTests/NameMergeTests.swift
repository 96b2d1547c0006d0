@testable import DatalessCore
import Testing

/// What becomes of one name, for each of what can have happened to it on both sides.
@Suite struct NameMergeTests {
  private static let old = ListedItem(.file(inode: 5, size: 10))

  /// The item as the store may have it now.
  enum Now: CaseIterable { case gone, same, chmod, version, other }

  private static func item(_ now: Now) -> ListedItem? {
    var item = old
    switch now {
    case .gone: return nil
    case .same: break
    case .chmod:
      item.attributes.mode ^= 0o022
      item.attributes.changeTime.seconds += 1
    case .version:
      item.attributes.size += 1
      item.attributes.modificationTime.seconds += 1
    case .other: return ListedItem(.file(inode: 6, size: 10))
    }
    return item
  }

  private func merge(
    _ now: Now, _ local: NameMerge.LocalChange = .none, isMade: Bool = false, keeps: Bool = false,
    _ change: (inout NameMerge.Base) -> Void = { _ in }
  ) -> NameMerge {
    var base = NameMerge.Base(item: Self.old)
    change(&base)
    return NameMerge.merge(base: base, listed: Self.item(now), local: local, isMade: isMade, keeps: keeps)
  }

  private func only(_ change: NameChange) -> NameMerge { NameMerge(change: change) }

  @Test func anUntouchedNameFollowsTheStore() {
    #expect(merge(.gone) == only(.vanished))
    #expect(merge(.same) == only(.unchanged))
    #expect(merge(.chmod) == only(.metadata))
    #expect(merge(.version) == only(.version))
    #expect(merge(.other) == only(.otherItem))
  }

  @Test func aNameThatTheStoreHadNotComesUnlessOneWasMade() {
    let listed = Self.item(.same)
    #expect(NameMerge.merge(base: nil, listed: listed, local: .none, isMade: false, keeps: false) == only(.appeared))
    #expect(
      NameMerge.merge(base: nil, listed: listed, local: .none, isMade: true, keeps: false)
        == NameMerge(change: .hidden, conflict: .madeOnBothSides))
    for isMade in [false, true] {
      #expect(NameMerge.merge(base: nil, listed: nil, local: .none, isMade: isMade, keeps: true) == only(.nothing))
    }
  }

  @Test func whatWasRemovedHereStaysRemoved() {
    #expect(merge(.gone, .removed) == only(.vanished))
    #expect(merge(.same, .removed) == only(.unchanged))
    #expect(merge(.chmod, .removed) == only(.metadata))
    #expect(merge(.version, .removed) == NameMerge(change: .version, conflict: .goneHereChangedThere))
    // Another item was put in its place, as editors save.
    #expect(
      merge(.version, .removed, isMade: true) == NameMerge(change: .version, conflict: .changedOnBothSides))
    #expect(
      merge(.gone, .removed, isMade: true) == NameMerge(change: .vanished, conflict: .changedHereGoneThere))
    #expect(merge(.same, .removed, isMade: true) == only(.unchanged))
    // Not what was removed.
    #expect(merge(.other, .removed) == only(.otherItem))
    #expect(
      merge(.other, .removed, isMade: true) == NameMerge(change: .otherItemHidden, conflict: .madeOnBothSides))
  }

  @Test func whatWasMovedHereFollowsTheStore() {
    #expect(merge(.gone, .moved) == NameMerge(change: .vanished, conflict: .changedHereGoneThere))
    #expect(merge(.same, .moved) == only(.unchanged))
    #expect(merge(.version, .moved) == only(.version))
    #expect(
      merge(.version, .moved) { $0.isDirty = true }
        == NameMerge(change: .retained(isNew: true), conflict: .changedOnBothSides))
    // The same version is told once.
    let known = merge(.version, .moved) {
      $0.isDirty = true
      $0.retained = Self.item(.version)
    }
    #expect(known == NameMerge(change: .retained(isNew: false), conflict: .changedOnBothSides))
    #expect(merge(.other, .moved) == only(.otherItem))
    for (isResident, isDirty, stays) in [(false, false, false), (true, false, true), (false, true, true)] {
      #expect(NameMerge.staysUnbound(isResident: isResident, isDirty: isDirty) == stays)
    }
  }

  @Test(arguments: [false, true]) func whatWasWrittenHereIsNeverReplaced(keeps: Bool) {
    let isDirty: (inout NameMerge.Base) -> Void = { $0.isDirty = true }
    #expect(
      merge(.gone, keeps: keeps, isDirty) == NameMerge(change: .keptHere, conflict: .changedHereGoneThere))
    for now in [Now.version, .other] {
      #expect(
        merge(now, keeps: keeps, isDirty)
          == NameMerge(change: .retained(isNew: true), conflict: .changedOnBothSides))
    }
    #expect(merge(.same, keeps: keeps, isDirty) == only(.unchanged))
  }

  @Test func residentContentStaysWhereThatIsWanted() {
    #expect(merge(.version, keeps: true) { $0.isResident = true } == only(.retained(isNew: true)))
    #expect(merge(.version, keeps: true) == only(.version))
    #expect(merge(.version) { $0.isResident = true } == only(.version))
    let again: (inout NameMerge.Base) -> Void = {
      $0.isResident = true
      $0.retained = Self.item(.version)
    }
    #expect(merge(.version, keeps: true, again) == only(.retained(isNew: false)))
    #expect(merge(.other, keeps: true, again) == only(.retained(isNew: true)))
  }

  @Test func oneFileIsOneNode() {
    for now in [Now.same, .chmod] { #expect(merge(now) { $0.canJoin = true } == only(.joined)) }
    #expect(merge(.version) { $0.canJoin = true } == only(.version))
  }

  @Test func aTokenOutweighsTimesAndSize() {
    func base(_ token: String) -> (inout NameMerge.Base) -> Void { { $0.item.token = VersionToken(token.utf8) } }
    func listed(_ now: Now, _ token: String, _ known: String) -> NameChange {
      var base = NameMerge.Base(item: Self.old)
      base.item.token = VersionToken(known.utf8)
      var listed = Self.item(now)
      listed?.token = VersionToken(token.utf8)
      return NameMerge.merge(base: base, listed: listed, local: .none, isMade: false, keeps: false).change
    }
    #expect(listed(.same, "e1", "e1") == .unchanged)
    #expect(listed(.chmod, "e1", "e1") == .metadata)
    #expect(listed(.version, "e1", "e1") == .metadata)
    #expect(listed(.same, "e2", "e1") == .version)
    #expect(listed(.same, "e2", "") == .version)
    #expect(listed(.other, "e1", "e1") == .otherItem)
  }

  @Test func rightsThatBothSidesHaveChangedClash() {
    let base = ItemAttributes.file(inode: 5, size: 10)
    func changed(_ change: (inout ItemAttributes) -> Void) -> ItemAttributes {
      var changed = base
      change(&changed)
      return changed
    }
    let mine = changed { $0.mode ^= 0o011 }
    #expect(!mine.clashes(base: base, with: base) && !base.clashes(base: base, with: mine))
    #expect(!mine.clashes(base: base, with: mine), "both did the same")
    #expect(!mine.clashes(base: base, with: changed { $0.uid = 7 }))
    #expect(mine.clashes(base: base, with: changed { $0.mode ^= 0o022 }))
    #expect(changed { $0.gid = 8 }.clashes(base: base, with: changed { $0.gid = 7 }))
    // The size and the times are of the content.
    #expect(!changed { $0.size = 1 }.clashes(base: base, with: changed { $0.size = 2 }))
    #expect(base.withRights(of: mine) == mine)
  }

  @Test func attributesChangedHereStayAndTheOthersFollow() {
    let base = ItemAttributes.file(inode: 5, size: 10)
    var mine = base
    mine.mode = 0o100600
    mine.linkCount = 3
    var theirs = base
    theirs.mode = 0o100777
    theirs.uid = 77
    theirs.linkCount = 2
    theirs.accessTime.seconds += 5
    let merged = mine.merged(base: base, theirs: theirs)
    #expect(merged.mode == 0o100600 && merged.uid == 77 && merged.linkCount == 4)
    #expect(merged.accessTime == theirs.accessTime && merged.size == 10)
    #expect(base.merged(base: base, theirs: theirs) == theirs)
  }
}
