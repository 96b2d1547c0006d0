// Programs that have a file open, or mapped, while it becomes another version.
#include "probe.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

static sigjmp_buf after_fault;
static void on_fault(int signal) {
  (void)signal;
  siglongjmp(after_fault, 1);
}

static void report_all(int fd) {
  static char buffer[1 << 16];
  uint64_t hash = HASH_START;
  int64_t offset = 0;
  ssize_t got;
  int error = 0;
  struct stat attributes = {0};
  while ((got = pread(fd, buffer, sizeof buffer, offset)) > 0) {
    hash = hash_more(hash, buffer, (size_t)got);
    offset += got;
  }
  if (got < 0) error = errno;
  fstat(fd, &attributes);
  printf("bytes=%lld outcome=%s hash=%016llx size=%lld\n", (long long)offset, outcome(got, error),
         (unsigned long long)hash, (long long)attributes.st_size);
  fflush(stdout);
}

// version open|read|map PATH: has the file open, without reading it, after reading it, or mapped and closed without touching
// it; says so, and when standard input ends reads all of it by what it has.
int command_version(int count, char **arguments) {
  (void)count;
  struct stat attributes = {0};
  int fd = open(arguments[1], O_RDONLY | O_CLOEXEC);
  void *start = NULL;
  if (fd < 0 || fstat(fd, &attributes) < 0) {
    printf("outcome=%s\n", outcome(-1, errno));
    return 0;
  }
  if (!strcmp(arguments[0], "read")) report_all(fd);
  if (!strcmp(arguments[0], "map")) {
    start = mmap(NULL, (size_t)attributes.st_size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
  }
  announce("ready");
  wait_for_harness();
  if (start) {
    signal(SIGBUS, on_fault);
    if (sigsetjmp(after_fault, 1)) {
      printf("bytes=0 outcome=SIGBUS hash=0\n");
      return 0;
    }
    printf("bytes=%lld outcome=ok hash=%016llx\n", (long long)attributes.st_size,
           (unsigned long long)hash_more(HASH_START, start, (size_t)attributes.st_size));
    return 0;
  }
  // What is in the page cache is asked for once more.
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  report_all(fd);
  return 0;
}

static volatile sig_atomic_t is_mapped;
static void on_mapped_fault(int signal) {
  (void)signal;
  if (is_mapped) siglongjmp(after_fault, 1);
  _exit(9);
}

static long long handles, bytes_read, mapped, refused;

static int all_are(const unsigned char *bytes, size_t count, unsigned char value) {
  for (size_t i = 0; i < count; i++)
    if (bytes[i] != value) return 0;
  return 1;
}

static void complain(const char *path, const char *what, long long one, long long other) {
  printf("failure %s: %s: %lld %lld\n", path, what, one, other);
  fflush(stdout);
}

// One open of a file all of whose bytes are its version's: what it reads is of one version, and all of it.
static void check(const char *path) {
  static unsigned char buffer[20000];
  int fd = open(path, O_RDONLY | O_CLOEXEC), version = -1;
  off_t offset = 0;
  ssize_t got;
  struct stat attributes;
  if (fd < 0) {
    if (errno != ENOENT && errno != ESTALE) complain(path, strerrorname_np(errno), 0, 0);
    refused++;
    return;
  }
  while ((got = pread(fd, buffer, sizeof buffer, offset)) > 0) {
    if (version < 0) version = buffer[0];
    if (!all_are(buffer, (size_t)got, (unsigned char)version)) complain(path, "two versions in one read", version, offset);
    offset += got;
    bytes_read += got;
  }
  if (got < 0) {
    if (errno != ESTALE && errno != ENOENT) complain(path, strerrorname_np(errno), 0, 0);
    refused++;
    close(fd);
    return;
  }
  handles++;
  if (fstat(fd, &attributes) == 0 && attributes.st_size != offset)
    complain(path, "short content", offset, attributes.st_size);
  unsigned char *start = offset > 0 ? mmap(NULL, (size_t)offset, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
  // Of a passthrough mapping the volume hears nothing once the handle is closed.
  close(fd);
  if (start == MAP_FAILED) return;
  is_mapped = 1;
  if (sigsetjmp(after_fault, 1)) {
    complain(path, "a mapping of a file that was read lost its content", version, 0);
  } else {
    for (int i = 0; i < 3; i++)
      if (!all_are(start, (size_t)offset, (unsigned char)version)) complain(path, "two versions in one mapping", version, 0);
    mapped++;
  }
  is_mapped = 0;
  munmap(start, (size_t)offset);
}

// uniform SECONDS PATH...: opens, reads and maps the files, whose bytes are all the same in each version, over and over.
int command_uniform(int count, char **arguments) {
  int64_t end = now_ns() + atoll(arguments[0]) * 1000000000LL;
  struct sigaction action = {.sa_handler = on_mapped_fault, .sa_flags = SA_NODEFER};
  sigaction(SIGBUS, &action, NULL);
  while (now_ns() < end)
    for (int i = 1; i < count; i++) check(arguments[i]);
  printf("handles=%lld bytes_read=%lld mapped=%lld refused=%lld\n", handles, bytes_read, mapped, refused);
  return 0;
}
