// Ways of moving a file's bytes that are not read(2).
#include "probe.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

static sigjmp_buf after_fault;
static void on_fault(int signal) {
  (void)signal;
  siglongjmp(after_fault, 1);
}

static void report(int64_t bytes, int error, uint64_t hash) {
  printf("bytes=%lld outcome=%s hash=%016llx\n", (long long)bytes, outcome(error ? -1 : 0, error),
         (unsigned long long)hash);
}

static void *mapping(const char *path, int flags, int *fd, size_t *size) {
  struct stat attributes;
  *fd = open(path, O_RDONLY | O_CLOEXEC);
  if (*fd < 0 || fstat(*fd, &attributes) < 0) return MAP_FAILED;
  *size = (size_t)attributes.st_size;
  return mmap(NULL, *size, PROT_READ, flags, *fd, 0);
}

// map shared|private PATH: reads the whole file through a mapping; SIGBUS is outcome=SIGBUS.
int command_map(int count, char **arguments) {
  (void)count;
  int fd;
  size_t size = 0;
  void *start = mapping(arguments[1], strcmp(arguments[0], "shared") ? MAP_PRIVATE : MAP_SHARED, &fd, &size);
  if (start == MAP_FAILED) {
    report(0, errno, HASH_START);
    return 0;
  }
  signal(SIGBUS, on_fault);
  if (sigsetjmp(after_fault, 1)) {
    printf("bytes=0 outcome=SIGBUS hash=0\n");
    return 0;
  }
  report((int64_t)size, 0, hash_more(HASH_START, start, size));
  return 0;
}

// maphold PATH: maps the file and touches it, closes the descriptor, and keeps the mapping until standard input ends.
int command_maphold(int count, char **arguments) {
  (void)count;
  int fd;
  size_t size = 0;
  volatile char *start = mapping(arguments[0], MAP_SHARED, &fd, &size);
  if ((void *)start == MAP_FAILED) {
    report(0, errno, HASH_START);
    return 0;
  }
  (void)start[0];
  close(fd);
  announce("mapped");
  wait_for_harness();
  report((int64_t)size, 0, hash_more(HASH_START, (const void *)start, size));
  return 0;
}

static uint64_t hash_of(int fd) {
  static char buffer[1 << 16];
  uint64_t hash = HASH_START;
  int64_t offset = 0;
  for (ssize_t got; (got = pread(fd, buffer, sizeof buffer, offset)) > 0; offset += got)
    hash = hash_more(hash, buffer, (size_t)got);
  return hash;
}

int command_sendfile(int count, char **arguments) {
  (void)count;
  int from = open(arguments[0], O_RDONLY | O_CLOEXEC), to = memfd_create("probe", MFD_CLOEXEC), error = 0;
  int64_t bytes = 0;
  for (ssize_t got; (got = sendfile(to, from, NULL, 1 << 20)) != 0; bytes += got)
    if (got < 0) {
      error = errno;
      break;
    }
  report(bytes, error, hash_of(to));
  return 0;
}

int command_splice(int count, char **arguments) {
  (void)count;
  static char buffer[1 << 16];
  int from = open(arguments[0], O_RDONLY | O_CLOEXEC), ends[2], error = 0;
  int64_t bytes = 0;
  uint64_t hash = HASH_START;
  if (pipe(ends) < 0) return 1;
  for (ssize_t got; (got = splice(from, NULL, ends[1], NULL, sizeof buffer, 0)) != 0; bytes += got) {
    if (got < 0) {
      error = errno;
      break;
    }
    for (ssize_t left = got, out; left > 0; left -= out) {
      out = read(ends[0], buffer, (size_t)left);
      if (out <= 0) return 1;
      hash = hash_more(hash, buffer, (size_t)out);
    }
  }
  report(bytes, error, hash);
  return 0;
}

// copyrange PATH TARGET: copy_file_range(2); where the kernel has none between these file systems, as cp does, read.
int command_copyrange(int count, char **arguments) {
  (void)count;
  static char buffer[1 << 16];
  int from = open(arguments[0], O_RDONLY | O_CLOEXEC), error = 0;
  int to = open(arguments[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  int64_t bytes = 0;
  int fell_back = 0;
  for (;;) {
    ssize_t got = fell_back ? read(from, buffer, sizeof buffer) : copy_file_range(from, NULL, to, NULL, 1 << 20, 0);
    if (got < 0 && !fell_back && (errno == EXDEV || errno == ENOSYS || errno == EOPNOTSUPP)) {
      fell_back = 1;
      continue;
    }
    if (got < 0) error = errno;
    if (got <= 0) break;
    if (fell_back && write(to, buffer, (size_t)got) != got) return 1;
    bytes += got;
  }
  report(bytes, error, hash_of(to));
  return 0;
}

// mapwrite PATH: write(2) from a mapping of the whole file: the pages fault inside the call.
int command_mapwrite(int count, char **arguments) {
  (void)count;
  int fd, to = memfd_create("probe", MFD_CLOEXEC);
  size_t size = 0;
  void *start = mapping(arguments[0], MAP_PRIVATE, &fd, &size);
  ssize_t written = start == MAP_FAILED ? -1 : write(to, start, size);
  report(written, written < 0 ? errno : 0, hash_of(to));
  return 0;
}

// again WAY PATH TIMES: the same again and again, at once, through one descriptor and one mapping: outcomes in one line.
int command_again(int count, char **arguments) {
  (void)count;
  const char *way = arguments[0];
  int fd, to = memfd_create("probe", MFD_CLOEXEC), ends[2];
  size_t size = 0;
  volatile char *start = mapping(arguments[1], MAP_PRIVATE, &fd, &size);
  if (start == MAP_FAILED || pipe(ends) < 0) return 1;
  signal(SIGBUS, on_fault);
  printf("outcomes=");
  for (volatile int left = atoi(arguments[2]); left > 0; left--) {
    off_t offset = 0;
    ssize_t result = -1;
    if (!strcmp(way, "touch")) {
      if (sigsetjmp(after_fault, 1)) {
        printf("SIGBUS%s", left > 1 ? "," : "\n");
        continue;
      }
      result = start[0] * 0;
    }
    if (!strcmp(way, "write")) result = write(to, (const void *)start, size);
    if (!strcmp(way, "pipe")) result = write(ends[1], (const void *)start, 1);
    if (!strcmp(way, "path")) result = open((const char *)start, O_RDONLY | O_CLOEXEC) < 0 && errno == EFAULT ? -1 : 0;
    if (!strcmp(way, "sendfile")) result = sendfile(to, fd, &offset, 4096);
    if (!strcmp(way, "splice")) result = splice(fd, &offset, ends[1], NULL, 4096, 0);
    printf("%s%s", outcome(result, errno), left > 1 ? "," : "\n");
  }
  return 0;
}
