import Glibc

/// sem_t: what one thread posts, another waits for. `@unchecked Sendable`: the memory is allocated once, freed when
/// nobody refers to it any more, and only touched through sem_post(3) and sem_wait(3), which are thread-safe.
final class Semaphore: @unchecked Sendable {
  private let semaphore: UnsafeMutablePointer<sem_t>

  init() {
    semaphore = .allocate(capacity: 1)
    semaphore.initialize(to: sem_t())
    sem_init(semaphore, 0, 0)
  }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  func signal() { sem_post(semaphore) }

  func wait() {
    while sem_wait(semaphore) != 0, errno == EINTR {}
  }
}
