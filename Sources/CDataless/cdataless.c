#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "cdataless.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cdataless_carrier.h"

#define EXPORTED __attribute__((visibility("default")))
#ifndef F_OFD_GETLK
#define F_OFD_GETLK 36
#endif

_Static_assert(sizeof(off_t) == 8, "a thread's place takes 62 bits");
// Functions without a comment on what they return answer 0, or an errno.

// ---- The process' policy -----------------------------------------------------------------------------------------

// struct rlimit64: the system call itself, because the C library's type has 32 bits for some programs.
struct limits {
  uint64_t soft;
  uint64_t hard;
};

static int exchange_limits(const struct limits *wanted, struct limits *found) {
  return syscall(SYS_prlimit64, 0, CDATALESS_RLIMIT_LOCKS, wanted, found) == 0 ? 0 : errno;
}

static int set_process_policy(int policy) {
  struct limits limits;
  int error = exchange_limits(NULL, &limits);
  if (error != 0) return error;
  // macOS knows two states of a process: all that is not ON is OFF.
  limits.soft = policy == IOPOL_MATERIALIZE_DATALESS_FILES_ON ? CDATALESS_PROCESS_ON : CDATALESS_PROCESS_OFF;
  // The kernel says EINVAL here, which would blame the arguments.
  if (limits.soft > limits.hard) return EPERM;
  return exchange_limits(&limits, NULL);
}

static int get_process_policy(int *policy) {
  struct limits limits;
  int error = exchange_limits(NULL, &limits);
  if (error != 0) return error;
  *policy = limits.soft == CDATALESS_PROCESS_OFF ? IOPOL_MATERIALIZE_DATALESS_FILES_OFF
                                                 : IOPOL_MATERIALIZE_DATALESS_FILES_ON;
  return 0;
}

// ---- The thread's policy -----------------------------------------------------------------------------------------

// The file of our pid namespace. Closing any descriptor of it releases all record locks of the process on it, so one is
// opened at the first use and then kept.
struct namespace_file {
  int descriptor;
  dev_t device;
  ino_t inode;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int setup_error;
static pthread_key_t thread_end;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct namespace_file file = {-1, 0, 0};

// A program may close descriptors that it did not open, and the number may be somebody else's by now.
static bool is_file_open(void) {
  struct stat status;
  return file.descriptor >= 0 && fstat(file.descriptor, &status) == 0 && status.st_dev == file.device &&
         status.st_ino == file.inode;
}

// Above the standard streams, so that a program which closed one of them and opens a file gets the number it expects.
static int open_above_standard_streams(const char *path) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int error = errno;
  close(descriptor);
  errno = error;
  return moved;
}

static int open_file(void) {
  if (is_file_open()) return 0;
  struct stat status;
  int descriptor = open_above_standard_streams(CDATALESS_NAMESPACE_FILE);
  if (descriptor < 0) return errno;
  if (fstat(descriptor, &status) != 0) {
    int error = errno;
    close(descriptor);
    return error;
  }
  file = (struct namespace_file){descriptor, status.st_dev, status.st_ino};
  return 0;
}

// Without F_SETLKW nothing waits, so EINTR cannot be.
static int set_record_lock(short type, int64_t start, int64_t length) {
  struct flock lock;
  memset(&lock, 0, sizeof lock);
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  return fcntl(file.descriptor, F_SETLK, &lock) == 0 ? 0 : errno;
}
static int32_t thread_id(void) { return (int32_t)syscall(SYS_gettid); }

// When the calling thread started, in clock ticks since boot: field 22 of proc(5)'s stat, after a name that may contain
// anything.
static int read_start_ticks(uint64_t *ticks) {
  char text[1024];
  int descriptor = open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  ssize_t count = read(descriptor, text, sizeof text - 1);
  int error = errno;
  close(descriptor);
  if (count < 0) return error;
  text[count] = '\0';
  const char *at = strrchr(text, ')');
  for (int field = 2; at != NULL && field < 22; field++) at = strchr(at + 1, ' ');
  if (at == NULL) return EIO;
  uint64_t value = 0;
  for (at++; *at >= '0' && *at <= '9'; at++) value = value * 10 + (uint64_t)(*at - '0');
  *ticks = value;
  return 0;
}

static int clear_thread_policy(void) {
  if (!is_file_open()) return 0;
  return set_record_lock(F_UNLCK, cdataless_thread_start(thread_id()), CDATALESS_THREAD_LENGTH);
}

static int set_thread_policy(int *policy) {
  if (*policy == IOPOL_MATERIALIZE_DATALESS_FILES_DEFAULT) return clear_thread_policy();
  uint64_t ticks;
  int error = read_start_ticks(&ticks);
  if (error == 0) error = open_file();
  // Any value but NULL makes the destructor run.
  if (error == 0) error = pthread_setspecific(thread_end, &thread_end);
  if (error != 0) return error;
  const int64_t start = cdataless_thread_start(thread_id());
  const int64_t end = start + CDATALESS_THREAD_LENGTH;
  const int64_t place = cdataless_thread_place(thread_id(), ticks) + *policy;
  error = set_record_lock(F_RDLCK, place, 1);
  if (error != 0) return error;
  // The policy before, and what a dead thread with our id has left. Splitting a lock needs memory; these split none.
  error = set_record_lock(F_UNLCK, start, place - start);
  return error != 0 ? error : set_record_lock(F_UNLCK, place + 1, end - place - 1);
}

// Asks the kernel what the daemon would see, to which other locks of the program's are no policy either. F_OFD_GETLK shows
// locks of one's own, F_GETLK does not.
static int get_thread_policy(int *policy) {
  *policy = IOPOL_MATERIALIZE_DATALESS_FILES_DEFAULT;
  if (!is_file_open()) return 0;
  uint64_t ticks;
  int error = read_start_ticks(&ticks);
  if (error != 0) return error;
  const int64_t place = cdataless_thread_place(thread_id(), ticks);
  struct flock lock;
  memset(&lock, 0, sizeof lock);
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = place;
  lock.l_len = CDATALESS_PLACE_LENGTH;
  if (fcntl(file.descriptor, F_OFD_GETLK, &lock) != 0) return errno;
  if (lock.l_type == F_UNLCK || lock.l_pid != getpid()) return 0;
  const int64_t found = lock.l_start - place;
  if (found == IOPOL_MATERIALIZE_DATALESS_FILES_OFF || found == IOPOL_MATERIALIZE_DATALESS_FILES_ON) *policy = (int)found;
  return 0;
}

static void end_thread(void *value) {
  (void)value;
  pthread_mutex_lock(&mutex);
  clear_thread_policy();
  pthread_mutex_unlock(&mutex);
}

static void before_fork(void) { pthread_mutex_lock(&mutex); }
static void after_fork(void) { pthread_mutex_unlock(&mutex); }

// The child has none of our record locks, and may be in a pid namespace of its own: it opens its file when it needs it.
static void after_fork_in_child(void) {
  if (is_file_open()) close(file.descriptor);
  file.descriptor = -1;
  pthread_mutex_unlock(&mutex);
}

static void set_up(void) {
  setup_error = pthread_key_create(&thread_end, end_thread);
  if (setup_error == 0) setup_error = pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

// Calls `body` with the mutex held. open(2), read(2) and close(2) are cancellation points: a thread that ended in one
// would keep the mutex.
static int with_mutex(int (*body)(int *policy), int *policy) {
  int cancellation;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
  int error = pthread_once(&once, set_up);
  if (error == 0) error = setup_error;
  if (error == 0) {
    pthread_mutex_lock(&mutex);
    error = body(policy);
    pthread_mutex_unlock(&mutex);
  }
  pthread_setcancelstate(cancellation, NULL);
  return error;
}

// ---- The functions of the header ---------------------------------------------------------------------------------

static bool is_policy(int policy) {
  return policy == IOPOL_MATERIALIZE_DATALESS_FILES_DEFAULT || policy == IOPOL_MATERIALIZE_DATALESS_FILES_OFF ||
         policy == IOPOL_MATERIALIZE_DATALESS_FILES_ON;
}
static bool is_scope(int scope) { return scope == IOPOL_SCOPE_PROCESS || scope == IOPOL_SCOPE_THREAD; }

EXPORTED int setiopolicy_np(int iotype, int scope, int policy) {
  const int before = errno;
  int error;
  if (iotype != IOPOL_TYPE_VFS_MATERIALIZE_DATALESS_FILES || !is_scope(scope) || !is_policy(policy))
    error = EINVAL;
  else if (scope == IOPOL_SCOPE_PROCESS)
    error = set_process_policy(policy);
  else
    error = with_mutex(set_thread_policy, &policy);
  errno = error == 0 ? before : error;
  return error == 0 ? 0 : -1;
}

EXPORTED int getiopolicy_np(int iotype, int scope) {
  const int before = errno;
  int policy = 0;
  int error;
  if (iotype != IOPOL_TYPE_VFS_MATERIALIZE_DATALESS_FILES || !is_scope(scope))
    error = EINVAL;
  else if (scope == IOPOL_SCOPE_PROCESS)
    error = get_process_policy(&policy);
  else
    error = with_mutex(get_thread_policy, &policy);
  errno = error == 0 ? before : error;
  return error == 0 ? policy : -1;
}

static const char state_name[] = "user.dataless.state";
enum { state_capacity = 64 };

static bool is_state(const char *state, ssize_t count, const char *word) {
  return count >= 0 && (size_t)count == strlen(word) && memcmp(state, word, (size_t)count) == 0;
}

// `count` and errno are getxattr(2)'s.
static int give_flags(const char *state, ssize_t count, int before, uint32_t *flags) {
  // ENODATA: not on a volume. ENOTSUP: a file system without such attributes. ERANGE: somebody else's attribute.
  if (count < 0 && errno != ENODATA && errno != ENOTSUP && errno != ERANGE) return -1;
  *flags = 0;
  if (is_state(state, count, "resident")) *flags = UF_TRACKED;
  // On macOS a file with some of its content is still flagged.
  if (is_state(state, count, "dataless") || is_state(state, count, "partial"))
    *flags = SF_DATALESS | UF_COMPRESSED | UF_TRACKED;
  errno = before;
  return 0;
}

EXPORTED int dataless_get_flags(const char *path, uint32_t *flags) {
  const int before = errno;
  char state[state_capacity];
  if (path == NULL || flags == NULL) {
    errno = EFAULT;
    return -1;
  }
  return give_flags(state, getxattr(path, state_name, state, sizeof state), before, flags);
}

EXPORTED int dataless_fget_flags(int descriptor, uint32_t *flags) {
  const int before = errno;
  char state[state_capacity];
  if (flags == NULL) {
    errno = EFAULT;
    return -1;
  }
  return give_flags(state, fgetxattr(descriptor, state_name, state, sizeof state), before, flags);
}
