// What the benchmarks time, without a shell or an interpreter in the way. Prints nanoseconds, one number a line.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char buffer[1 << 20];

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void fail(const char *path) {
  fprintf(stderr, "client: %s: %s\n", path, strerror(errno));
  exit(1);
}

// Time of the first read(2) alone, or of the whole file.
static int64_t read_file(const char *path, int whole) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(path);
  int64_t start = now();
  ssize_t got;
  do {
    got = read(fd, buffer, sizeof buffer);
    if (got < 0) fail(path);
  } while (whole && got > 0);
  int64_t time = now() - start;
  close(fd);
  return time;
}

// Attributes of an open file, as the check of a fetch asks for them: from the source itself, or from the kernel's cache of them.
static int64_t check_file(const char *path, int flags) {
  struct statx status;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &status)) fail(path);
  int64_t start = now();
  if (statx(fd, "", AT_EMPTY_PATH | flags, STATX_BASIC_STATS | STATX_BTIME, &status)) fail(path);
  int64_t time = now() - start;
  close(fd);
  return time;
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  if (!strcmp(arguments[1], "first")) {
    // One file after the other: how long the first read of each takes.
    for (int i = 2; i < count; i++) printf("%lld\n", (long long)read_file(arguments[i], 0));
  } else if (!strcmp(arguments[1], "forced-checks") || !strcmp(arguments[1], "cached-checks")) {
    int flags = arguments[1][0] == 'f' ? AT_STATX_FORCE_SYNC : AT_STATX_SYNC_AS_STAT;
    for (int i = 2; i < count; i++) printf("%lld\n", (long long)check_file(arguments[i], flags));
  } else if (!strcmp(arguments[1], "processes")) {
    // One process for each file, all at once: how long until the last has read its file.
    int64_t start = now();
    for (int i = 2; i < count; i++)
      if (fork() == 0) {
        read_file(arguments[i], 1);
        _exit(0);
      }
    int status, failed = 0;
    while (wait(&status) > 0) failed |= status;
    printf("%lld\n", (long long)(now() - start));
    return failed != 0;
  } else {
    return 2;
  }
  return 0;
}
