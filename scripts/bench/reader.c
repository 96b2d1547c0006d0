// Reads one file in one pattern and prints what it took in nanoseconds. Nothing is mapped: every byte goes through
// read(2) or pread(2), so that both sides of a comparison pay the same copy.
//
//   reader seq PATH BLOCK                     open, read to the end in blocks, close
//   reader random PATH BLOCK COUNT THREADS    COUNT preads in all at random multiples of BLOCK, one descriptor a thread
//   reader handle PATH BLOCK                  a handle opened before the first read of the file, then a fresh one: two numbers
//   reader files THREADS                      paths from standard input: each opened, read by one read(2), closed
//   reader drop PATH...                       writes dirty pages back and drops the files' pages from the page cache
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *path;
static size_t block;
static long count;
static off_t size;
static pthread_barrier_t start_line;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "reader: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int open_file(const char *name) {
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(name);
  return fd;
}

static void *buffer_of(size_t bytes) {
  void *buffer;
  if (posix_memalign(&buffer, 4096, bytes)) exit(1);
  // Touched here, so that no page fault of ours is timed.
  memset(buffer, 1, bytes);
  return buffer;
}

static off_t read_to_end(int fd, void *buffer) {
  off_t total = 0;
  for (;;) {
    ssize_t got = read(fd, buffer, block);
    if (got < 0) fail(path);
    if (got == 0) return total;
    total += got;
  }
}

static void *random_reads(void *argument) {
  uint64_t state = 0x9e3779b97f4a7c15ULL * ((uintptr_t)argument + 1);
  void *buffer = buffer_of(block);
  int fd = open_file(path);
  uint64_t blocks = (uint64_t)size / block;
  pthread_barrier_wait(&start_line);
  for (long i = 0; i < count; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    if (pread(fd, buffer, block, (off_t)(state % blocks * block)) != (ssize_t)block) fail(path);
  }
  close(fd);
  return NULL;
}

static int random_main(long threads) {
  struct stat status;
  if (stat(path, &status)) fail(path);
  size = status.st_size;
  count /= threads;
  pthread_t ids[64];
  if (threads < 1 || threads > 64) return 2;
  pthread_barrier_init(&start_line, NULL, (unsigned)threads + 1);
  for (long i = 0; i < threads; i++)
    if (pthread_create(&ids[i], NULL, random_reads, (void *)(uintptr_t)i)) fail("pthread_create");
  pthread_barrier_wait(&start_line);
  int64_t start = now();
  for (long i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  printf("%lld\n", (long long)(now() - start));
  return 0;
}

static char **paths;
static long path_count;
static atomic_long next_path;

static void *file_reads(void *argument) {
  (void)argument;
  char *buffer = buffer_of(1 << 20);
  pthread_barrier_wait(&start_line);
  for (;;) {
    long index = atomic_fetch_add(&next_path, 1);
    if (index >= path_count) break;
    int fd = open_file(paths[index]);
    if (read(fd, buffer, 1 << 20) < 0) fail(paths[index]);
    close(fd);
  }
  free(buffer);
  return NULL;
}

static int files_main(long threads) {
  char *line = NULL;
  size_t space = 0;
  long room = 0;
  ssize_t length;
  while ((length = getline(&line, &space, stdin)) > 0) {
    line[length - 1] = 0;
    if (path_count == room) paths = realloc(paths, sizeof *paths * (size_t)(room = room ? room * 2 : 1024));
    paths[path_count++] = strdup(line);
  }
  pthread_t ids[64];
  if (threads < 1 || threads > 64) return 2;
  pthread_barrier_init(&start_line, NULL, (unsigned)threads + 1);
  for (long i = 0; i < threads; i++)
    if (pthread_create(&ids[i], NULL, file_reads, NULL)) fail("pthread_create");
  pthread_barrier_wait(&start_line);
  int64_t start = now();
  for (long i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  printf("%lld\n", (long long)(now() - start));
  return 0;
}

static int handle_main(void) {
  void *buffer = buffer_of(block);
  int early = open_file(path);
  if (read(early, buffer, block) != (ssize_t)block) fail(path);
  int64_t start = now();
  read_to_end(early, buffer);
  int64_t early_time = now() - start;
  close(early);
  // close(2) returns before the file system hears of it; a fresh handle beside the old one would be a mixed case.
  nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
  for (int pass = 0; pass < 2; pass++) {
    // The second pass is the one printed: the first fills whatever cache serves this handle.
    int fresh = open_file(path);
    if (read(fresh, buffer, block) != (ssize_t)block) fail(path);
    start = now();
    read_to_end(fresh, buffer);
    if (pass == 1) printf("%lld\n%lld\n", (long long)early_time, (long long)(now() - start));
    close(fresh);
  }
  return 0;
}

int main(int argument_count, char **arguments) {
  if (argument_count < 3) return 2;
  const char *command = arguments[1];
  path = arguments[2];
  if (!strcmp(command, "drop")) {
    for (int i = 2; i < argument_count; i++) {
      int fd = open_file(arguments[i]);
      fsync(fd);
      if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)) fail(arguments[i]);
      close(fd);
    }
    return 0;
  }
  if (!strcmp(command, "files")) return files_main(strtol(arguments[2], NULL, 10));
  if (argument_count < 4) return 2;
  block = strtoul(arguments[3], NULL, 10);
  if (!strcmp(command, "seq")) {
    void *buffer = buffer_of(block);
    int64_t start = now();
    int fd = open_file(path);
    read_to_end(fd, buffer);
    close(fd);
    printf("%lld\n", (long long)(now() - start));
    return 0;
  }
  if (!strcmp(command, "handle")) return handle_main();
  if (strcmp(command, "random") || argument_count < 6) return 2;
  count = strtol(arguments[4], NULL, 10);
  return random_main(strtol(arguments[5], NULL, 10));
}
