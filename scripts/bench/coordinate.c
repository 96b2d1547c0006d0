// Coordinated accesses: what one takes that nobody is in the way of, and what thousands that wait do to plain reads.
//   round FILE COUNT     asks to read FILE, waits for the answer, gives it back, COUNT times; a line of ns for each
//   crowd FILE COUNT     asks COUNT times at once to write FILE, and gives all back, one after the other, when standard
//                        input ends: `served NS`
//   reads FILE COUNT     opens FILE, reads 4 KiB and closes it, COUNT times; a line of ns for each
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cdataless.h"

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void take(int descriptor) {
  struct pollfd look = {descriptor, POLLIN, 0};
  struct dataless_coordination answer;
  if (poll(&look, 1, 60000) != 1) fail("poll");
  if (dataless_coordinate_result(descriptor, &answer) != 0) fail(answer.message);
}

static int ask(const char *file, int writes) {
  const struct dataless_claim claim = {file, writes};
  int descriptor = dataless_coordinate_start(&claim, 1, 0, 0);
  if (descriptor < 0) fail("dataless_coordinate_start");
  return descriptor;
}

static void round_trips(const char *file, int count, int64_t *times) {
  for (int index = 0; index < count; index++) {
    int64_t before = now();
    int descriptor = ask(file, 0);
    take(descriptor);
    times[index] = now() - before;
    if (dataless_coordinate_end(descriptor) != 0) fail("dataless_coordinate_end");
  }
}

static void reads(const char *file, int count, int64_t *times) {
  static char bytes[4096];
  for (int index = 0; index < count; index++) {
    int64_t before = now();
    int descriptor = open(file, O_RDONLY);
    if (descriptor < 0 || pread(descriptor, bytes, sizeof bytes, 0) < 0) fail(file);
    close(descriptor);
    times[index] = now() - before;
  }
}

static void crowd(const char *file, int count) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  int *descriptors = calloc((size_t)count, sizeof *descriptors);
  for (int index = 0; index < count; index++) descriptors[index] = ask(file, 1);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {}
  int64_t before = now();
  for (int index = 0; index < count; index++) {
    take(descriptors[index]);
    if (dataless_coordinate_end(descriptors[index]) != 0) fail("dataless_coordinate_end");
  }
  printf("served %lld\n", (long long)(now() - before));
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  int count = (int)strtol(argv[3], NULL, 10);
  if (strcmp(argv[1], "crowd") == 0) {
    crowd(argv[2], count);
    return 0;
  }
  int64_t *times = calloc((size_t)count, sizeof *times);
  (strcmp(argv[1], "round") == 0 ? round_trips : reads)(argv[2], count, times);
  for (int index = 0; index < count; index++) printf("%lld\n", (long long)times[index]);
  return 0;
}
