// Ten thousand readers blocked at once: one process, a thread with a small stack for each file, each with one open(2)
// and one pread(2) of its own file. Paths are read from standard input, one a line.
//
//   waiters read STAGGER_US          every thread reads its file
//   waiters sleep STAGGER_US MS      and then sleeps: the same client against a plain directory
//   waiters pages STAGGER_US [MS]    thread i reads page i of its file, and then sleeps, if MS is given
//
// All threads start at one gate; thread i waits i * STAGGER_US after it. Prints `arrived` and the nanoseconds from the
// gate until the last thread is about to read, `done` and the nanoseconds until the last has read, then `each` and the
// nanoseconds of every thread's pread, sorted.
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
#include <time.h>
#include <unistd.h>

static char **paths;
static int64_t *times;
static int count, sleeps, by_page;
static int64_t stagger, pause_ns, gate_time;
static atomic_int ready, arrived, failures;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate = PTHREAD_COND_INITIALIZER, everybody = PTHREAD_COND_INITIALIZER;
static int gate_open;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void sleep_until(int64_t deadline) {
  struct timespec time = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {
  }
}

// The last one in tells the main thread; nobody else touches the lock.
static void count_one(atomic_int *counter) {
  if (atomic_fetch_add(counter, 1) + 1 == count) {
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&everybody);
    pthread_mutex_unlock(&lock);
  }
}

static void await(atomic_int *counter) {
  pthread_mutex_lock(&lock);
  while (atomic_load(counter) < count) pthread_cond_wait(&everybody, &lock);
  pthread_mutex_unlock(&lock);
}

static void *reader(void *argument) {
  intptr_t index = (intptr_t)argument;
  char buffer[512];
  count_one(&ready);
  pthread_mutex_lock(&lock);
  while (!gate_open) pthread_cond_wait(&gate, &lock);
  pthread_mutex_unlock(&lock);
  if (stagger) sleep_until(gate_time + index * stagger);
  int fd = open(paths[index], O_RDONLY | O_CLOEXEC);
  count_one(&arrived);
  int64_t start = now();
  off_t offset = by_page ? (off_t)index * 4096 : 0;
  if (fd < 0 || pread(fd, buffer, sizeof buffer, offset) != sizeof buffer) {
    if (atomic_fetch_add(&failures, 1) == 0) fprintf(stderr, "waiters: %s: %s\n", paths[index], strerror(errno));
  }
  times[index] = now() - start;
  if (sleeps) sleep_until(now() + pause_ns);
  if (fd >= 0) close(fd);
  return NULL;
}

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static void read_paths(void) {
  char *line = NULL;
  size_t space = 0;
  ssize_t length;
  int room = 0;
  while ((length = getline(&line, &space, stdin)) > 0) {
    line[length - 1] = 0;
    if (count == room) paths = realloc(paths, sizeof *paths * (size_t)(room = room ? room * 2 : 1024));
    paths[count++] = strdup(line);
  }
}

int main(int argument_count, char **arguments) {
  if (argument_count < 3) return 2;
  by_page = !strcmp(arguments[1], "pages");
  sleeps = !strcmp(arguments[1], "sleep") || (by_page && argument_count > 3);
  stagger = strtoll(arguments[2], NULL, 10) * 1000;
  if (sleeps) pause_ns = argument_count > 3 ? strtoll(arguments[3], NULL, 10) * 1000000 : 0;
  read_paths();
  if (count == 0) return 2;
  times = calloc((size_t)count, sizeof *times);
  pthread_t *ids = calloc((size_t)count, sizeof *ids);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 32 << 10);
  for (intptr_t i = 0; i < count; i++) {
    int error = pthread_create(&ids[i], &attributes, reader, (void *)i);
    if (error) {
      fprintf(stderr, "waiters: thread %ld: %s\n", (long)i, strerror(error));
      return 1;
    }
  }
  await(&ready);
  pthread_mutex_lock(&lock);
  gate_time = now();
  gate_open = 1;
  pthread_cond_broadcast(&gate);
  pthread_mutex_unlock(&lock);
  await(&arrived);
  printf("arrived %lld\n", (long long)(now() - gate_time));
  fflush(stdout);
  for (int i = 0; i < count; i++) pthread_join(ids[i], NULL);
  printf("done %lld\n", (long long)(now() - gate_time));
  qsort(times, (size_t)count, sizeof *times, by_value);
  printf("each");
  for (int i = 0; i < count; i++) printf(" %lld", (long long)times[i]);
  printf("\n");
  return atomic_load(&failures) != 0;
}
