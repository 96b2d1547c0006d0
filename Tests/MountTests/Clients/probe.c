#include "probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

void print_word(const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    unsigned char byte = (unsigned char)bytes[i];
    if (byte > 32 && byte < 127 && byte != '\\' && byte != '=')
      putchar(byte);
    else
      printf("\\x%02x", byte);
  }
}

void announce(const char *line) {
  puts(line);
  fflush(stdout);
}

void wait_for_harness(void) {
  char byte;
  while (read(0, &byte, 1) > 0) continue;
}

struct reading {
  const char *path;
  int64_t offset, length;  // length -1: to the end
  int64_t bytes, nanoseconds;
  int error;
  uint64_t hash;
  pthread_barrier_t *barrier;
};

// Reads like any program: open, then read until the end or the length. The time is that of the reads alone.
static void *perform(void *context) {
  struct reading *reading = context;
  char *buffer = malloc(1 << 20);
  reading->hash = HASH_START;
  int fd = open(reading->path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) reading->error = errno;
  if (reading->barrier) pthread_barrier_wait(reading->barrier);
  int64_t start = now_ns();
  while (fd >= 0 && (reading->length < 0 || reading->bytes < reading->length)) {
    size_t wanted = 1 << 20;
    if (reading->length >= 0 && (int64_t)wanted > reading->length - reading->bytes)
      wanted = (size_t)(reading->length - reading->bytes);
    ssize_t got = pread(fd, buffer, wanted, reading->offset + reading->bytes);
    if (got < 0) reading->error = errno;
    if (got <= 0) break;
    reading->hash = hash_more(reading->hash, buffer, (size_t)got);
    reading->bytes += got;
  }
  reading->nanoseconds = now_ns() - start;
  if (fd >= 0) close(fd);
  free(buffer);
  return NULL;
}

static void report(const struct reading *reading) {
  printf("bytes=%lld outcome=%s ns=%lld hash=%016llx\n", (long long)reading->bytes,
         outcome(reading->error ? -1 : 0, reading->error), (long long)reading->nanoseconds,
         (unsigned long long)reading->hash);
}

// read PATH [OFFSET LENGTH [TIMES]]
static int command_read(int count, char **arguments) {
  int times = count > 3 ? atoi(arguments[3]) : 1;
  for (int i = 0; i < times; i++) {
    struct reading reading = {.path = arguments[0], .length = -1};
    if (count > 1) reading.offset = atoll(arguments[1]);
    if (count > 2) reading.length = atoll(arguments[2]);
    perform(&reading);
    report(&reading);
  }
  return 0;
}

// threads N PATH...: N threads, all with the file open, begin to read at one moment. One line each.
static int command_threads(int count, char **arguments) {
  int threads = atoi(arguments[0]), paths = count - 1;
  struct reading *readings = calloc((size_t)threads, sizeof *readings);
  pthread_t *ids = calloc((size_t)threads, sizeof *ids);
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 * 1024);
  for (int i = 0; i < threads; i++) {
    readings[i] = (struct reading){.path = arguments[1 + i % paths], .length = -1, .barrier = &barrier};
    if (pthread_create(&ids[i], &attributes, perform, &readings[i])) return 1;
  }
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  for (int i = 0; i < threads; i++) report(&readings[i]);
  return 0;
}

// processes PATH...: one process for each path reads it. One line each, in the order in which they end.
static int command_processes(int count, char **arguments) {
  for (int i = 0; i < count; i++) {
    if (fork() == 0) {
      struct reading reading = {.path = arguments[i], .length = -1};
      perform(&reading);
      report(&reading);
      fflush(stdout);
      _exit(0);
    }
  }
  while (wait(NULL) > 0) continue;
  return 0;
}

static volatile sig_atomic_t handled;
static void count_signal(int signal) {
  (void)signal;
  handled++;
}

// signal restart|norestart PATH: reads with a handler for SIGUSR1.
static int command_signal(int count, char **arguments) {
  (void)count;
  struct sigaction action = {.sa_handler = count_signal};
  if (!strcmp(arguments[0], "restart")) action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, NULL);
  char buffer[4096];
  int fd = open(arguments[1], O_RDONLY | O_CLOEXEC);
  announce("reading");
  int64_t start = now_ns();
  ssize_t got = read(fd, buffer, sizeof buffer);
  int error = errno;
  printf("bytes=%zd outcome=%s handled=%d ns=%lld\n", got, outcome(got, error), (int)handled,
         (long long)(now_ns() - start));
  return 0;
}

// hold open|read PATH: keeps the file open, after reading its first byte with `read`, until standard input ends.
static int command_hold(int count, char **arguments) {
  (void)count;
  char byte;
  int fd = open(arguments[1], O_RDONLY | O_CLOEXEC);
  long result = fd;
  if (fd >= 0 && !strcmp(arguments[0], "read")) result = read(fd, &byte, 1);
  printf("outcome=%s\n", outcome(result, errno));
  fflush(stdout);
  wait_for_harness();
  close(fd);
  announce("closed");
  return 0;
}

// stages PATH: what stat says before, while and after another thread's read of the whole file.
static int command_stages(int count, char **arguments) {
  (void)count;
  struct stat before, during, after;
  struct reading reading = {.path = arguments[0], .length = -1};
  pthread_t thread;
  stat(arguments[0], &before);
  pthread_create(&thread, NULL, perform, &reading);
  announce("reading");
  wait_for_harness();
  stat(arguments[0], &during);
  pthread_join(thread, NULL);
  stat(arguments[0], &after);
  printf("before=%lld during=%lld after=%lld size=%lld inode_kept=%d mtime_kept=%d ctime_kept=%d\n",
         (long long)before.st_blocks, (long long)during.st_blocks, (long long)after.st_blocks,
         (long long)after.st_size, before.st_ino == during.st_ino && before.st_ino == after.st_ino,
         !memcmp(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim),
         !memcmp(&before.st_ctim, &after.st_ctim, sizeof before.st_ctim));
  report(&reading);
  return 0;
}

int main(int count, char **arguments) {
  struct {
    const char *name;
    int minimum;
    int (*run)(int, char **);
  } commands[] = {
      {"read", 1, command_read},           {"threads", 2, command_threads}, {"processes", 1, command_processes},
      {"signal", 2, command_signal},       {"hold", 2, command_hold},       {"stages", 1, command_stages},
      {"change", 1, command_change},       {"dump", 1, command_dump},       {"look", 1, command_look},
      {"map", 2, command_map},             {"maphold", 1, command_maphold}, {"sendfile", 1, command_sendfile},
      {"splice", 1, command_splice},       {"copyrange", 2, command_copyrange},
      {"mapwrite", 1, command_mapwrite},   {"again", 3, command_again},
      {"race", 6, command_race},           {"same", 1, command_same},
      {"act", 2, command_act},           {"gui", 2, command_gui},             {"interrupted", 1, command_interrupted},
      {"version", 2, command_version},     {"uniform", 2, command_uniform},   {"trace", 1, command_trace},
  };
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (count >= 2 + commands[i].minimum && !strcmp(arguments[1], commands[i].name))
      return commands[i].run(count - 2, arguments + 2);
  fprintf(stderr, "probe: unknown command or too few arguments\n");
  return 2;
}
