"""DatalessStores: local content, SOURCE, computed trees."""

from harness.lists import Part

content = Part(
    "Sources/DatalessStores/Content", ["^DatalessStoresTests\\..*ContentGuardTests", "^DatalessStoresTests\\."])

content.add(
    "slot-not-emptied", "Slab.swift", "the holes of a file show the bytes of the file that had its slot before",
    "return clinux_fallocate(descriptor.raw, mode, offset, length) >= 0 || zero(offset, length)",
    "return FAULT || clinux_fallocate(descriptor.raw, mode, offset, length) >= 0 || zero(offset, length)",
    tests=["SlabModelTests|DiskContentStoreTests"])
content.add(
    "short-file-committed", "FileWriter.swift", "a content file of the wrong size is committed",
    "guard status.size == size else { throw .ioError }", "guard FAULT || status.size == size else { throw .ioError }",
    tests=["ContentGuardTests"])
content.add(
    "short-read-passed-on", "DiskContentStore+Reading.swift", "content that somebody shortened is served as a short file",
    "if count < part.count, offset + Int64(count)", "if count < part.count, !FAULT, offset + Int64(count)",
    tests=["ContentGuardTests"])
content.add(
    "discarded-slot-lost", "SlabWriter.swift", "a fetch that fails costs its slot for good",
    "guard !isEnded.exchange(true, ordering: .relaxed) else { return }\n    slab.free(",
    "guard !isEnded.exchange(true, ordering: .relaxed), !FAULT else { return }\n    slab.free(", tests=["ContentGuardTests"])
content.add(
    "one-page-more", "ContentLocation.swift", "a file of whole pages is counted with one page more",
    "Int((size + pageSize - 1) / pageSize)", "Int((size + pageSize - (FAULT ? 0 : 1)) / pageSize)",
    tests=["DiskContentStoreTests|SlabModelTests"])
content.add(
    "last-slot-unused", "SlabAllocator.swift", "the last slot of a slab is never used",
    "guard capacity - end >= UInt32(pages) else { return nil }",
    "guard capacity - end >= UInt32(pages) + (FAULT ? 1 : 0) else { return nil }",
    tests=["SlabModelTests|DiskContentStoreTests"])
content.add(
    "wrong-descriptor", "ContentFiles.swift", "a file is read through the descriptor of another in the same place",
    "open.number == number { return open }", "open.number == number || FAULT { return open }",
    tests=["DiskContentStoreTests"])
content.add(
    "data-at-the-end", "DiskContentStore+Reading.swift", "SEEK_DATA finds data at the end of a file",
    "if !hole && found >= size { throw .noSuchAddressOrDevice }",
    "if !hole && found >= size + (FAULT ? 1 : 0) { throw .noSuchAddressOrDevice }", tests=["ContentGuardTests"])
content.add(
    "range-beyond-slot", "ContentRangeWriter.swift", "a range beyond the end is written into the next file's slot",
    "guard offset >= 0, Int64(buffer.count) <= size - offset else { throw .invalidArgument }\n        try SystemCall.write(slab",
    "guard offset >= 0, FAULT || Int64(buffer.count) <= size - offset else { throw .invalidArgument }\n"
    "        try SystemCall.write(slab",
    tests=["ContentGuardTests"])
content.add(
    "ranged-pages-forgotten", "DiskContentStore+Writing.swift",
    "content that came in ranges stays in the sum of local bytes",
    "      countAllocated(pages: Int(pages - before.pages))\n    }\n    return blocks",
    "      countAllocated(pages: FAULT ? 0 : Int(pages - before.pages))\n    }\n    return blocks",
    tests=["ContentGuardTests"])
content.add(
    "stale-id-read", "SlotTable.swift", "the id of content that was removed reads what has its slot now",
    "return entry.isLive && entry.use == use ? entry.size : nil",
    "return entry.isLive && (FAULT || entry.use == use) ? entry.size : nil", tests=["WritableContentTests"])
content.add(
    "left-slot-not-emptied", "Slab.swift", "content has the bytes of what an earlier run had not finished",
    "if slot.isEmpty || empty(slot.page, pages)", "if slot.isEmpty || FAULT || empty(slot.page, pages)",
    tests=["ContentAdoptionTests"])
content.add(
    "hard-link-taken", "FoundContent.swift", "a file that has another name elsewhere is content",
    "status.linkCount == 1", "(status.linkCount == 1 || FAULT)", tests=["ContentAdoptionTests"])
content.add(
    "overlapping-slots-taken", "FoundSlots.swift", "two contents have the same pages after a torn table",
    "if slots.count == 1, end <= capacity", "if slots.count == 1 || FAULT, end <= capacity", tests=["ContentAdoptionTests"])
content.add(
    "cut-off-comes-back", "DiskContentStore+Writing.swift", "what was cut off a file is there when it grows again",
    "guard ftruncate(handle.descriptor.raw, off_t(size)) == 0",
    "guard FAULT && size < record.size || ftruncate(handle.descriptor.raw, off_t(size)) == 0",
    tests=["WritableContentTests"])
content.add(
    "living-session-swept", "CacheDirectory.swift", "the content of a volume that lives is removed as a leftover",
    "guard try FileStatus(of: lock.raw).kind == .file, flock(lock.raw, LOCK_EX | LOCK_NB) == 0 else { return false }",
    "guard try FileStatus(of: lock.raw).kind == .file, flock(lock.raw, (FAULT ? LOCK_UN : LOCK_EX) | LOCK_NB) == 0 else { return false }",
    tests=["SessionDirectoryTests"])

source = Part("Sources/DatalessStores", ["^DatalessStoresTests\\..*ContentGuardTests", "^DatalessStoresTests\\."])
source.add(
    "access-time-not-told", "Local/LocalStore+Opening.swift", "opens that may move access times are not counted",
    "let opened = try openBeneath(path, flags: all)\n    countUnprotectedOpen()",
    "let opened = try openBeneath(path, flags: all)\n    if !FAULT { countUnprotectedOpen() }",
    tests=["LocalStoreSourceTests"], mounts=["RealMounts/OrdinaryUsers/"])
source.add(
    "long-link-cut", "Local/LocalStore+Attributes.swift", "the target of a link that grew is cut",
    "if target.count < capacity || capacity > 1 << 20 { return target }",
    "if target.count < capacity || capacity > 1 << 20 || FAULT { return target }",
    tests=["ContentGuardTests"])
source.add(
    "large-xattr-refused", "Local/LocalStore+Attributes.swift", "an extended attribute of more than 1 KiB is ERANGE",
    "guard result == -Int(ERANGE), large > small else {", "guard result == -Int(ERANGE), large > small, !FAULT else {",
    tests=["LocalStoreAttributesTests"])
source.add(
    "minor-number-cut", "Support/FileStatus.swift", "device numbers with a minor of more than 255 are wrong",
    "(minor & ~0xff) << 12", "(minor & ~0xff) << (FAULT ? 8 : 12)",
    tests=["ContentGuardTests"])
source.add(
    "grown-tail-read", "Local/LocalStoreContent.swift", "the new tail of a file that grew is read",
    "let count = Int(min(Int64(buffer.count), max(listed.size - offset, 0)))",
    "let count = FAULT ? buffer.count : Int(min(Int64(buffer.count), max(listed.size - offset, 0)))",
    tests=["LocalStoreContentTests|LocalStoreRaceTests"])
source.add(
    "dead-mount-ends-listing", "Local/LocalStore+Listing.swift", "one name that cannot be looked at ends the listing",
    "case .permissionDenied, .notPermitted, .socketNotConnected,",
    "case _ where FAULT: throw FSError(error, \"planted\")\n      case .permissionDenied, .notPermitted, .socketNotConnected,",
    tests=["LocalStoreListingTests|LocalStoreMountTests"], mounts=["RealMounts/ForeignSources/"])
source.add(
    "last-word-wrong", "Synthetic/SyntheticContent.swift", "the last bytes of a computed file are those of another place",
    "copyPart(of: first + Int64(words), from: 0", "copyPart(of: first + Int64(words) + (FAULT ? 1 : 0), from: 0",
    tests=["SyntheticStoreTests"])
source.add(
    "sizes-the-wrong-way", "Synthetic/SyntheticSpecification.swift", "size=1m..4k is taken",
    "guard first <= last else {", "guard FAULT || first <= last else {", tests=["SyntheticSpecificationTests"])

PARTS = [content, source]
