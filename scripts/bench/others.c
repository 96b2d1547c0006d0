// What other callers feel: small operations that each reach the file system, one after the other, for some seconds.
//
//   others SECONDS DIRECTORY FILE
//
// lookup: a name that nobody asked for before. stat: attributes of FILE, past the kernel's cache. open: open(2) and
// close(2) of FILE. xattr: a getxattr(2) of FILE. Prints a line for each: name, count, and the nanoseconds of the
// median, the 99th percentile and the slowest.
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
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum { LOOKUP, STAT, OPEN, XATTR, KINDS, LIMIT = 4000000 };
static const char *const names[KINDS] = {"lookup", "stat", "open", "xattr"};
static int64_t *times[KINDS];
static int counts[KINDS];

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int once(int kind, const char *directory, const char *file, long serial) {
  char text[4096];
  struct statx status;
  switch (kind) {
    case LOOKUP:
      snprintf(text, sizeof text, "%s/nobody-%d-%ld", directory, (int)getpid(), serial);
      return access(text, F_OK) == -1 && errno == ENOENT ? 0 : -1;
    case STAT:
      return statx(AT_FDCWD, file, AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &status);
    case OPEN: {
      int fd = open(file, O_RDONLY | O_CLOEXEC);
      return fd < 0 ? -1 : close(fd);
    }
    default:
      return getxattr(file, "user.dataless.state", text, sizeof text) < 0 && errno != ENODATA ? -1 : 0;
  }
}

int main(int count, char **arguments) {
  if (count < 4) return 2;
  int64_t end = now() + (int64_t)(strtod(arguments[1], NULL) * 1e9);
  for (int kind = 0; kind < KINDS; kind++) times[kind] = malloc(sizeof **times * LIMIT / KINDS);
  for (long serial = 0; now() < end && counts[XATTR] < LIMIT / KINDS; serial++)
    for (int kind = 0; kind < KINDS; kind++) {
      int64_t start = now();
      if (once(kind, arguments[2], arguments[3], serial)) {
        fprintf(stderr, "others: %s: %s\n", names[kind], strerror(errno));
        return 1;
      }
      times[kind][counts[kind]++] = now() - start;
    }
  for (int kind = 0; kind < KINDS; kind++) {
    int all = counts[kind];
    qsort(times[kind], (size_t)all, sizeof **times, by_value);
    printf("%s %d %lld %lld %lld\n", names[kind], all, (long long)times[kind][all / 2],
           (long long)times[kind][(long)all * 99 / 100], (long long)times[kind][all - 1]);
  }
  return 0;
}
