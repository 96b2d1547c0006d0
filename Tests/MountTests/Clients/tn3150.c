// What Apple's TN3150 ("Getting ready for dataless files") tells a program to do: look at the flag, opt out of
// materialization on this thread, meet EDEADLK instead of a wait, put the old policy back, and read when it may take time.
// Written as for macOS; only the header and the way to the flag word differ. A program of its own, linked with CDataless.
//
//   tn3150 flags PATH...  prints "flags=0xN" for each, or "outcome=ERRNO"
//   tn3150 polite PATH    the whole sequence, a line for each step. Exit status 0 if each step came out as the note says
//   tn3150 two PATH       two threads read PATH at the same time, the first one opted out
//   tn3150 read PATH      reads a byte, under the policy of the process
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cdataless.h"

static int failures;

// The name of an errno; strerrorname_np(3) is not in every C library.
static const char *name_of(int error) {
  switch (error) {
    case 0: return "ok";
    case EDEADLK: return "EDEADLK";
    case EINVAL: return "EINVAL";
    case ENOENT: return "ENOENT";
    case ETIMEDOUT: return "ETIMEDOUT";
    default: return strerror(error);
  }
}

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// Opens a file and reads one byte of it. - Returns: 0 or an errno.
static int read_byte(const char *path) {
  char byte;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  int error = read(file, &byte, 1) < 0 ? errno : 0;
  close(file);
  return error;
}

static void report_read(const char *step, const char *path, int expected) {
  int64_t start = now_ns();
  int error = read_byte(path);
  printf("step=%s outcome=%s ns=%" PRId64 "\n", step, name_of(error), now_ns() - start);
  if (error != expected) failures++;
}

static void report_flags(const char *step, const char *path, uint32_t expected) {
  uint32_t flags = 0;
  int error = dataless_get_flags(path, &flags) == 0 ? 0 : errno;
  printf("step=%s outcome=%s flags=0x%" PRIx32 " dataless=%d\n", step, name_of(error), flags,
         (flags & SF_DATALESS) != 0);
  if (error != 0 || flags != expected) failures++;
}

static void set_thread(int policy) {
  if (setiopolicy_np(IOPOL_TYPE_VFS_MATERIALIZE_DATALESS_FILES, IOPOL_SCOPE_THREAD, policy) != 0) {
    printf("step=set outcome=%s\n", name_of(errno));
    failures++;
  }
}

static int polite(const char *path) {
  const uint32_t resident = UF_TRACKED;
  const uint32_t dataless = SF_DATALESS | UF_COMPRESSED | UF_TRACKED;
  report_flags("before", path, dataless);
  int old = getiopolicy_np(IOPOL_TYPE_VFS_MATERIALIZE_DATALESS_FILES, IOPOL_SCOPE_THREAD);
  printf("step=old policy=%d\n", old);
  if (old != IOPOL_MATERIALIZE_DATALESS_FILES_DEFAULT) failures++;
  set_thread(IOPOL_MATERIALIZE_DATALESS_FILES_OFF);
  report_read("opted_out", path, EDEADLK);
  report_flags("refused", path, dataless);
  set_thread(old);
  report_read("restored", path, 0);
  report_flags("after", path, resident);
  set_thread(IOPOL_MATERIALIZE_DATALESS_FILES_OFF);
  report_read("opted_out_resident", path, 0);
  set_thread(old);
  return failures != 0;
}

struct reader {
  const char *path;
  int policy;
  int error;
  int64_t nanoseconds;
  pthread_barrier_t *barrier;
};

static void *read_with_policy(void *context) {
  struct reader *reader = context;
  set_thread(reader->policy);
  pthread_barrier_wait(reader->barrier);
  int64_t start = now_ns();
  reader->error = read_byte(reader->path);
  reader->nanoseconds = now_ns() - start;
  return NULL;
}

static int two(const char *path) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, 2);
  struct reader readers[2] = {
      {path, IOPOL_MATERIALIZE_DATALESS_FILES_OFF, 0, 0, &barrier},
      {path, IOPOL_MATERIALIZE_DATALESS_FILES_ON, 0, 0, &barrier},
  };
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    if (pthread_create(&threads[i], NULL, read_with_policy, &readers[i]) != 0) return 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 2; i++)
    printf("thread=%d outcome=%s ns=%" PRId64 "\n", i, name_of(readers[i].error), readers[i].nanoseconds);
  return failures != 0 || readers[0].error != EDEADLK || readers[1].error != 0;
}

static int print_flags(int count, char **paths) {
  for (int i = 0; i < count; i++) {
    uint32_t flags;
    if (dataless_get_flags(paths[i], &flags) == 0) printf("flags=0x%" PRIx32 "\n", flags);
    else printf("outcome=%s\n", name_of(errno));
  }
  return 0;
}

int main(int count, char **arguments) {
  const char *command = count > 2 ? arguments[1] : "";
  if (strcmp(command, "flags") == 0) return print_flags(count - 2, arguments + 2);
  if (strcmp(command, "polite") == 0) return polite(arguments[2]);
  if (strcmp(command, "two") == 0) return two(arguments[2]);
  if (strcmp(command, "read") == 0) return report_read("read", arguments[2], 0), failures != 0;
  fprintf(stderr, "usage: tn3150 flags|polite|two|read PATH\n");
  return 2;
}
