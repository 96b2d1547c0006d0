// Changes files and prints what it took in nanoseconds.
//
//   writer create DIRECTORY COUNT SIZE   makes, writes SIZE bytes to and closes f0, f1 ...
//   writer rename DIRECTORY COUNT        renames them to g0, g1 ...
//   writer unlink DIRECTORY COUNT        removes those
//   writer open DIRECTORY COUNT FIRST    opens f0, f1 ..., writes 4 KiB to and closes each; also of the FIRST of them
//   writer hold DIRECTORY COUNT          opens f0, f1 ..., says so, and has them open until its input ends
//   writer seq PATH BLOCK BYTES [flush]     writes BYTES in blocks to a file that is there, from its beginning
//   writer random PATH BLOCK COUNT [flush]  COUNT writes at random multiples of BLOCK in a file that is there
//   writer flush DIRECTORY FILES COUNT   makes FILES files; as many threads each write 4 KiB and flush it, COUNT times
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "writer: %s: %s\n", what, strerror(errno));
  exit(1);
}

static char *buffer_of(size_t bytes) {
  void *buffer;
  if (posix_memalign(&buffer, 4096, bytes ? bytes : 1)) exit(1);
  memset(buffer, 1, bytes);
  return buffer;
}

static void create(long number, const char *bytes, size_t size) {
  char name[32];
  snprintf(name, sizeof name, "f%ld", number);
  int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd)) fail(name);
}

static int files(const char *step, const char *directory, long count, size_t size) {
  char *bytes = buffer_of(size), name[32], new_name[32];
  if (chdir(directory)) fail(directory);
  int64_t start = now();
  for (long i = 0; i < count; i++) {
    snprintf(name, sizeof name, "f%ld", i);
    snprintf(new_name, sizeof new_name, "g%ld", i);
    if (*step == 'c') {
      create(i, bytes, size);
    } else if (*step == 'r' ? rename(name, new_name) : unlink(new_name)) {
      fail(name);
    }
  }
  printf("%lld\n", (long long)(now() - start));
  return 0;
}

static int open_one(long number) {
  char name[32];
  snprintf(name, sizeof name, "f%ld", number);
  int fd = open(name, O_RDWR | O_CLOEXEC);
  if (fd < 0) fail(name);
  return fd;
}

static int opens(const char *directory, long count, long first) {
  char *bytes = buffer_of(4096);
  if (chdir(directory)) fail(directory);
  int64_t start = now(), part = start;
  for (long i = 0; i < count; i++) {
    if (i == first) part = now();
    int fd = open_one(i);
    if (write(fd, bytes, 4096) != 4096 || close(fd)) fail("write");
  }
  int64_t end = now();
  printf("%lld\n%lld\n", (long long)(end - start), (long long)((first < count ? part : end) - start));
  return 0;
}

static int hold(const char *directory, long count) {
  if (chdir(directory)) fail(directory);
  for (long i = 0; i < count; i++) open_one(i);
  printf("held\n");
  fflush(stdout);
  while (getchar() != EOF) continue;
  return 0;
}

static int blocks(const char *path, size_t block, long count, int is_random, int is_flushed) {
  char *bytes = buffer_of(block);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  struct stat status;
  if (fd < 0 || fstat(fd, &status)) fail(path);
  long places = status.st_size / (long)block;
  uint64_t seed = 88172645463325252ULL;
  int64_t start = now();
  for (long i = 0; i < count; i++) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    long place = is_random ? (long)(seed % (uint64_t)places) : i;
    if (pwrite(fd, bytes, block, place * (off_t)block) != (ssize_t)block) fail(path);
  }
  if (is_flushed && fsync(fd)) fail(path);
  printf("%lld\n", (long long)(now() - start));
  return close(fd);
}

static long flush_count;

static void *flush_one(void *argument) {
  int fd = *(int *)argument;
  char *bytes = buffer_of(4096);
  for (long i = 0; i < flush_count; i++)
    if (pwrite(fd, bytes, 4096, i * 4096L) != 4096 || fsync(fd)) fail("flush");
  return NULL;
}

static int flushes(const char *directory, long files, long count) {
  pthread_t threads[256];
  int fds[256];
  if (files < 1 || files > 256 || chdir(directory)) fail(directory);
  for (long i = 0; i < files; i++) {
    char name[32];
    snprintf(name, sizeof name, "flushed%ld", i);
    fds[i] = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    // The name is on the disk before the time begins.
    if (fds[i] < 0 || fsync(fds[i])) fail(name);
  }
  flush_count = count;
  int64_t start = now();
  for (long i = 0; i < files; i++)
    if (pthread_create(&threads[i], NULL, flush_one, &fds[i])) fail("thread");
  for (long i = 0; i < files; i++) pthread_join(threads[i], NULL);
  printf("%lld\n", (long long)(now() - start));
  return 0;
}

int main(int count, char **arguments) {
  const char *what = count > 3 ? arguments[1] : "";
  if (count == 5 && !strcmp(what, "create"))
    return files(what, arguments[2], atol(arguments[3]), strtoul(arguments[4], NULL, 10));
  if (count == 4 && (!strcmp(what, "rename") || !strcmp(what, "unlink")))
    return files(what, arguments[2], atol(arguments[3]), 0);
  if (count == 5 && !strcmp(what, "open")) return opens(arguments[2], atol(arguments[3]), atol(arguments[4]));
  if (count == 4 && !strcmp(what, "hold")) return hold(arguments[2], atol(arguments[3]));
  int is_flushed = count == 6 && !strcmp(arguments[5], "flush");
  if ((count == 5 || is_flushed) && (!strcmp(what, "seq") || !strcmp(what, "random"))) {
    size_t block = strtoul(arguments[3], NULL, 10);
    long number = atol(arguments[4]);
    return blocks(arguments[2], block, *what == 's' ? number / (long)block : number, *what == 'r', is_flushed);
  }
  if (count == 5 && !strcmp(what, "flush")) return flushes(arguments[2], atol(arguments[3]), atol(arguments[4]));
  fprintf(stderr, "usage: see the source\n");
  return 2;
}
