// What the parts of a look at a caller's policy cost (docs/POLICY.md). Not part of `make bench`: nothing here is ours but
// the library, and a look is too short to be seen in a read.
//
//   cc -O2 -ISources/CDataless/include -o policy scripts/bench/policy.c Sources/CDataless/cdataless.c -lpthread && ./policy
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cdataless.h"
#include "cdataless_carrier.h"

enum { BATCHES = 51, CALLS = 400 };
#define TYPE IOPOL_TYPE_VFS_MATERIALIZE_DATALESS_FILES
#define OFF IOPOL_MATERIALIZE_DATALESS_FILES_OFF
#define DEFAULT IOPOL_MATERIALIZE_DATALESS_FILES_DEFAULT

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

#define MEASURE(name, call)                                                              \
  do {                                                                                   \
    double times[BATCHES];                                                               \
    for (int batch = 0; batch < BATCHES; batch++) {                                      \
      double start = now_ns();                                                           \
      for (int i = 0; i < CALLS; i++) call;                                              \
      times[batch] = (now_ns() - start) / CALLS;                                         \
    }                                                                                    \
    qsort(times, BATCHES, sizeof *times, compare);                                       \
    printf("%-52s %7.0f ns, p90 %.0f\n", name, times[BATCHES / 2], times[BATCHES * 9 / 10]); \
  } while (0)

static int namespace_file;

static int find_lock(pid_t thread) {
  struct flock lock = {
      .l_type = F_WRLCK, .l_start = cdataless_thread_start(thread), .l_len = CDATALESS_THREAD_LENGTH};
  return fcntl(namespace_file, F_OFD_GETLK, &lock);
}

static long read_limit(pid_t process) {
  uint64_t limits[2];
  return syscall(SYS_prlimit64, process, CDATALESS_RLIMIT_LOCKS, NULL, limits);
}

static void read_file(const char *path) {
  char text[4096];
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0 && read(file, text, sizeof text) < 0) perror(path);
  close(file);
}

static void look_at_pidfd(pid_t process) {
  struct stat status;
  int file = (int)syscall(SYS_pidfd_open, process, 0);
  fstat(file, &status);
  close(file);
}

static struct sockaddr_un name_of(pid_t process, socklen_t *length) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  int count = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "dataless-bench-%d", process);
  *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)count);
  return name;
}

static int try_name(int socket, pid_t process) {
  socklen_t length;
  struct sockaddr_un name = name_of(process, &length);
  return connect(socket, (struct sockaddr *)&name, length);
}

static pthread_barrier_t all_set;

static void *hold_policy(void *ignored) {
  if (setiopolicy_np(TYPE, IOPOL_SCOPE_THREAD, OFF) != 0) perror("setiopolicy_np");
  pthread_barrier_wait(&all_set);
  pause();
  return ignored;
}

// A child with so many threads that have a policy.
static pid_t start_holders(int count) {
  int ready[2];
  char byte = 0;
  if (pipe(ready) != 0) exit(1);
  pid_t child = fork();
  if (child == 0) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    pthread_barrier_init(&all_set, NULL, (unsigned)count + 1);
    socklen_t length;
    struct sockaddr_un name = name_of(getpid(), &length);
    if (bind(socket(AF_UNIX, SOCK_DGRAM, 0), (struct sockaddr *)&name, length) != 0) perror("bind");
    for (int i = 0; i < count; i++) {
      pthread_t thread;
      if (pthread_create(&thread, &attributes, hold_policy, NULL) != 0) _exit(1);
    }
    pthread_barrier_wait(&all_set);
    setiopolicy_np(TYPE, IOPOL_SCOPE_THREAD, OFF);
    if (write(ready[1], &byte, 1) == 1) pause();
    _exit(1);
  }
  close(ready[1]);
  if (read(ready[0], &byte, 1) != 1) exit(1);
  close(ready[0]);
  return child;
}

static void stop(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

int main(void) {
  char path[64], name[64];
  namespace_file = open(CDATALESS_NAMESPACE_FILE, O_RDONLY | O_CLOEXEC);
  pid_t child = start_holders(0);
  MEASURE("getppid: an empty system call", syscall(SYS_getppid));
  MEASURE("prlimit64 of a child", read_limit(child));
  MEASURE("prlimit64 of pid 1", read_limit(1));
  snprintf(path, sizeof path, "/proc/%d/limits", child);
  MEASURE("read /proc/TID/limits", read_file(path));
  snprintf(path, sizeof path, "/proc/%d/task/%d/stat", child, child);
  MEASURE("read /proc/TID/task/TID/stat", read_file(path));
  MEASURE("F_OFD_GETLK, a thread without policy", find_lock(getpid()));
  MEASURE("F_OFD_GETLK, a thread with one", find_lock(child));
  MEASURE("tgkill with signal 0", syscall(SYS_tgkill, child, child, 0));
  MEASURE("pidfd_open, fstat, close", look_at_pidfd(child));
  int prober = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  MEASURE("connect to an abstract socket, absent", try_name(prober, getpid()));
  MEASURE("connect to an abstract socket, present", try_name(prober, child));
  stop(child);
  MEASURE("setiopolicy_np, process", setiopolicy_np(TYPE, IOPOL_SCOPE_PROCESS, OFF));
  MEASURE("getiopolicy_np, process", getiopolicy_np(TYPE, IOPOL_SCOPE_PROCESS));
  MEASURE("setiopolicy_np, thread, OFF and DEFAULT",
          (setiopolicy_np(TYPE, IOPOL_SCOPE_THREAD, OFF), setiopolicy_np(TYPE, IOPOL_SCOPE_THREAD, DEFAULT)));
  const int counts[] = {100, 1000, 5000};
  for (int i = 0; i < 3; i++) {
    child = start_holders(counts[i]);
    snprintf(name, sizeof name, "F_OFD_GETLK, nothing found, %d other policies", counts[i]);
    MEASURE(name, find_lock(getpid()));
    stop(child);
  }
  return 0;
}
