#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "cdataless.h"
#include "materialize_result.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

enum { paths_max = 1 << 20, threads_max = 4, piece = 32 << 10, stack_bytes = 256 << 10 };

// One call of dataless_materialize_start. It belongs to its threads; the last one frees it. There is nothing of it that a
// fork could leave locked in the child, because the child has none of these threads.
struct job {
  pthread_mutex_t mutex;
  int threads;
  // The end of the pair that the caller has not; and the caller's working directory, or -1.
  int descriptor;
  int directory;
  bool goes_on;
  bool is_over;
  uint32_t count;
  uint32_t next;
  uint32_t done;
  char **paths;
  struct materialize_result *result;
};

// ---- One path ----------------------------------------------------------------------------------------------------

// 0, or an errno.
static int look(int descriptor, bool *is_missing) {
  uint32_t flags = 0;
  if (dataless_fget_flags(descriptor, &flags) != 0) return errno;
  *is_missing = (flags & SF_DATALESS) != 0;
  return 0;
}

// 0, or an errno. Reads until nothing of the file is missing: with some settings of a volume a read brings its own range
// alone.
static int read_file(int descriptor) {
  char bytes[piece];
  off_t offset = 0;
  size_t wanted = 1;
  bool is_missing = true;
  while (is_missing) {
    ssize_t count = pread(descriptor, bytes, wanted, offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    // It has become shorter meanwhile.
    if (count == 0) return 0;
    offset += count;
    wanted = sizeof bytes;
    int error = look(descriptor, &is_missing);
    if (error != 0) return error;
  }
  return 0;
}

static int list_directory(int descriptor) {
  DIR *directory = fdopendir(descriptor);
  if (directory == NULL) {
    int error = errno;
    close(descriptor);
    return error;
  }
  errno = 0;
  int error = readdir(directory) == NULL ? errno : 0;
  closedir(directory);
  return error;
}

// Opened by what was looked at, whatever has its name by now: opening a device could do something.
static int open_again(int path_descriptor, int flags) {
  char name[64];
  // /proc/self is the main thread, which may have ended.
  snprintf(name, sizeof name, "/proc/thread-self/fd/%d", path_descriptor);
  return open(name, flags | O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static int materialize_open(int path_descriptor, mode_t mode) {
  int descriptor = open_again(path_descriptor, S_ISDIR(mode) ? O_DIRECTORY : 0);
  if (descriptor < 0) return errno;
  bool is_missing = false;
  int error = look(descriptor, &is_missing);
  if (error == 0 && is_missing && S_ISDIR(mode)) return list_directory(descriptor);
  if (error == 0 && is_missing) error = read_file(descriptor);
  close(descriptor);
  return error;
}

// 0, or an errno.
static int materialize(const struct job *job, const char *path) {
  int descriptor = openat(job->directory < 0 ? AT_FDCWD : job->directory, path, O_PATH | O_CLOEXEC);
  if (descriptor < 0) return errno;
  struct stat status;
  int error = fstat(descriptor, &status) == 0 ? 0 : errno;
  if (error == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
    error = materialize_open(descriptor, status.st_mode);
  close(descriptor);
  return error;
}

// ---- The threads of a job ----------------------------------------------------------------------------------------

// Whether the caller has closed its descriptor.
static bool is_cancelled(const struct job *job) {
  struct pollfd look = {job->descriptor, 0, 0};
  return poll(&look, 1, 0) > 0 && (look.revents & (POLLHUP | POLLERR)) != 0;
}

// With a large result nobody reads, this waits, on this thread, until the caller reads or closes.
static void send_result(const struct job *job) {
  const char *bytes = (const char *)job->result;
  size_t left = sizeof *job->result + job->count * sizeof job->result->errors[0];
  while (left > 0) {
    ssize_t count = send(job->descriptor, bytes, left, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    bytes += count;
    left -= (size_t)count;
  }
}

static void free_job(struct job *job) {
  if (job->descriptor >= 0) close(job->descriptor);
  if (job->directory >= 0) close(job->directory);
  if (job->paths != NULL)
    for (uint32_t index = 0; index < job->count; index++) free(job->paths[index]);
  free(job->paths);
  free(job->result);
  pthread_mutex_destroy(&job->mutex);
  free(job);
}

// The next path, or -1 when there is none left or the job is over.
static int64_t take(struct job *job) {
  pthread_mutex_lock(&job->mutex);
  int64_t index = -1;
  if (!job->is_over && job->next < job->count) index = job->next++;
  pthread_mutex_unlock(&job->mutex);
  return index;
}

// Notes what became of a path. - Returns whether the job is over by that, which one thread is told alone.
static bool note(struct job *job, uint32_t index, int error) {
  pthread_mutex_lock(&job->mutex);
  bool ends = false;
  if (!job->is_over) {
    job->result->errors[index] = error;
    job->done++;
    ends = job->done == job->count || (error != 0 && !job->goes_on);
    job->is_over = ends;
  }
  pthread_mutex_unlock(&job->mutex);
  return ends;
}

static void leave(struct job *job) {
  pthread_mutex_lock(&job->mutex);
  bool is_last = --job->threads == 0;
  pthread_mutex_unlock(&job->mutex);
  if (is_last) free_job(job);
}

static void *run(void *argument) {
  struct job *job = argument;
  pthread_setname_np(pthread_self(), "dl-materialize");
  // Whatever the process says of itself: this is what was asked for.
  int refusal = setiopolicy_np(IOPOL_TYPE_VFS_MATERIALIZE_DATALESS_FILES, IOPOL_SCOPE_THREAD,
                               IOPOL_MATERIALIZE_DATALESS_FILES_ON) == 0
                    ? 0
                    : errno;
  int64_t index;
  while ((index = take(job)) >= 0) {
    if (is_cancelled(job)) break;
    int error = refusal != 0 ? refusal : materialize(job, job->paths[index]);
    // Nobody changes the result any more once the job is over.
    if (note(job, (uint32_t)index, error)) send_result(job);
  }
  leave(job);
  return NULL;
}

// ---- Starting ----------------------------------------------------------------------------------------------------

static bool copy_paths(struct job *job, const char *const *paths, bool *is_relative) {
  job->paths = calloc(job->count, sizeof *job->paths);
  job->result = malloc(sizeof *job->result + job->count * sizeof job->result->errors[0]);
  if (job->paths == NULL || job->result == NULL) return false;
  job->result->magic = MATERIALIZE_RESULT_MAGIC;
  job->result->count = job->count;
  for (uint32_t index = 0; index < job->count; index++) {
    job->result->errors[index] = ECANCELED;
    job->paths[index] = strdup(paths[index]);
    if (job->paths[index] == NULL) return false;
    if (paths[index][0] != '/') *is_relative = true;
  }
  return true;
}

// 0, or an errno when not one thread could be started.
static int start_threads(struct job *job) {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error != 0) return error;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  // Signals are for the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  // Held, so that none of them is the last before all are counted.
  pthread_mutex_lock(&job->mutex);
  int wanted = job->count < threads_max ? (int)job->count : threads_max;
  while (job->threads < wanted) {
    pthread_t thread;
    error = pthread_create(&thread, &attributes, run, job);
    if (error != 0) break;
    job->threads++;
  }
  bool has_one = job->threads > 0;
  pthread_mutex_unlock(&job->mutex);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return has_one ? 0 : error;
}

// The caller's descriptor, or a negative errno.
static int start(const char *const *paths, size_t count, int flags) {
  if (paths == NULL) return -EFAULT;
  if (count == 0 || count > paths_max || (flags & ~DATALESS_MATERIALIZE_GO_ON) != 0) return -EINVAL;
  for (size_t index = 0; index < count; index++)
    if (paths[index] == NULL) return -EFAULT;
  struct job *job = calloc(1, sizeof *job);
  if (job == NULL) return -ENOMEM;
  pthread_mutex_init(&job->mutex, NULL);
  job->descriptor = -1;
  job->directory = -1;
  job->count = (uint32_t)count;
  job->goes_on = (flags & DATALESS_MATERIALIZE_GO_ON) != 0;
  bool is_relative = false;
  int ends[2] = {-1, -1};
  int error = copy_paths(job, paths, &is_relative) ? 0 : ENOMEM;
  // Where the program is now, wherever it goes. Asks no file system.
  if (error == 0 && is_relative) {
    job->directory = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (job->directory < 0) error = errno;
  }
  if (error == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) error = errno;
  if (error == 0) {
    job->descriptor = ends[1];
    error = start_threads(job);
  }
  if (error == 0) return ends[0];
  if (ends[0] >= 0) close(ends[0]);
  free_job(job);
  return -error;
}

EXPORTED int dataless_materialize_start(const char *const *paths, size_t count, int flags) {
  const int before = errno;
  // open(2) and close(2) are cancellation points: a thread that ended in one would leave all of it behind.
  int cancellation;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
  int descriptor = start(paths, count, flags);
  pthread_setcancelstate(cancellation, NULL);
  errno = descriptor >= 0 ? before : -descriptor;
  return descriptor >= 0 ? descriptor : -1;
}
