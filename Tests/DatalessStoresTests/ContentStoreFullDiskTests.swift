import DatalessCore
@testable import DatalessStores
import Glibc
import SystemPackage
import Testing

/// A cache on a disk that is full: the writer gets ENOSPC, and nothing of what it wrote stays.
@Suite(.enabled(if: isRoot, "mounting a small tmpfs needs root"))
struct ContentStoreFullDiskTests {
  @Test(arguments: [128 << 10, 2 << 20])
  func failedWritesLeaveNothing(size: Int) {
    withPrivateMounts {
      do {
        let scratch = Scratch("full")
        #expect(mount("tmpfs", scratch.path, "tmpfs", 0, "size=4m,mode=700") == 0)
        defer { umount2(scratch.path, CInt(MNT_DETACH)) }
        let session = try SessionDirectory(cache: scratch.filePath, session: "0123456789ab")
        let store = try DiskContentStore(in: session)
        let bytes = [UInt8](repeating: 7, count: size)
        var references: [ContentID] = []
        var failure: FSError?
        while failure == nil, references.count < 100 {
          do throws(FSError) {
            let writer = try store.makeWriter(size: Int64(size))
            try writer.write(bytes, at: 0)
            references.append(try writer.commit())
          } catch {
            failure = error
          }
        }
        #expect(failure?.errno == .noSpace)
        #expect(references.count >= 1)
        let names = try scratch.filePath.appending("0123456789ab/content").names()
        #expect(!names.contains { $0.hasSuffix(".part") })
        #expect(store.allocatedBytes == Int64(references.count * size))
        // What was committed before is whole, and what is removed makes room again.
        for reference in references {
          var found = [UInt8](repeating: 0, count: size)
          #expect(try store.readBytes(reference, &found, 0) == size)
          #expect(found == bytes)
        }
        store.remove(references[0])
        // A child that another test starts at this moment shares the descriptor until its exec.
        let clock = ContinuousClock()
        let limit = clock.now + .seconds(10)
        while Self.freeBytes(scratch) < size, clock.now < limit { sched_yield() }
        let writer = try store.makeWriter(size: Int64(size))
        try writer.write(bytes, at: 0)
        _ = try writer.commit()
      } catch {
        Issue.record(error)
      }
    }
  }

  private static func freeBytes(_ scratch: Scratch) -> Int {
    var status = statvfs()
    return statvfs(scratch.path, &status) == 0 ? Int(status.f_bfree) * Int(status.f_bsize) : -1
  }

  @Test func fullOfInodes() {
    withPrivateMounts {
      do {
        let scratch = Scratch("inodes")
        #expect(mount("tmpfs", scratch.path, "tmpfs", 0, "nr_inodes=6,size=4m,mode=700") == 0)
        defer { umount2(scratch.path, CInt(MNT_DETACH)) }
        let session = try SessionDirectory(cache: scratch.filePath, session: "0123456789ab")
        let store = try DiskContentStore(in: session)
        var failure: FSError?
        for _ in 0..<10 where failure == nil {
          failure = thrown { () throws(FSError) in
            _ = try store.makeWriter(size: 200_000).commit()
          }
        }
        #expect(failure?.errno == .noSpace)
      } catch {
        Issue.record(error)
      }
    }
  }
}
