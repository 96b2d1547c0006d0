// libFuzzer's target for the C library that programs under test link with (Sources/CDataless): what the kernel and file
// systems answer it is chosen by the input, and so is what the program asks. Built and run by scripts/fuzz/run.
//
// The library is taken in as source, with the calls by which it gets bytes from elsewhere in the hands of this file.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

static const uint8_t *input;
static size_t left;

static uint8_t byte(void) {
  if (left == 0) return 0;
  left--;
  return *input++;
}

static uint64_t number(void) {
  uint64_t value = 0;
  for (int index = 0; index < 8; index++) value = value << 8 | byte();
  return value;
}

// An errno instead of a result, now and then; any, those that the kernel does not give included.
static int fails(void) {
  if (byte() % 8 != 0) return 0;
  errno = byte();
  return 1;
}

// At most `capacity` bytes of the input: of the size that is asked for, or less.
static ssize_t give(void *buffer, size_t capacity) {
  if (fails()) return -1;
  size_t count = byte() | (size_t)(byte() & 3) << 8;
  if (count > capacity) count = capacity;
  if (count > left) count = left;
  memcpy(buffer, input, count);
  input += count;
  left -= count;
  return (ssize_t)count;
}

static int fuzz_open(const char *path, int flags) {
  (void)path, (void)flags;
  return fails() ? -1 : byte() % 6;
}

static int fuzz_close(int descriptor) {
  (void)descriptor;
  return 0;
}

static ssize_t fuzz_read(int descriptor, void *buffer, size_t count) {
  (void)descriptor;
  return give(buffer, count);
}

static int fuzz_fstat(int descriptor, struct stat *status) {
  (void)descriptor;
  if (fails()) return -1;
  memset(status, 0, sizeof *status);
  status->st_dev = byte() % 2;
  status->st_ino = byte() % 2;
  return 0;
}

static long asked_low, asked_high;

static int fuzz_fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  if (command == F_DUPFD_CLOEXEC) return descriptor < 0 ? -1 : 3 + byte() % 4;
  struct flock *lock = argument;
  // What is asked for lies in the range of the thread: nobody else's lock is set or taken away.
  if (lock->l_start < asked_low || lock->l_len < 0 || lock->l_start + lock->l_len > asked_high) abort();
  if (fails()) return -1;
  if (command == 36 /* F_OFD_GETLK */) {
    lock->l_type = (short)(byte() % 3);
    lock->l_start = byte() % 2 ? (off_t)(number() >> 1) : lock->l_start + byte() % 5;
    lock->l_len = (off_t)number();
    lock->l_pid = byte() % 2 ? getpid() : (pid_t)number();
  }
  return 0;
}

static int32_t thread;

static long fuzz_syscall(long call, ...) {
  if (call == SYS_gettid) return thread;
  va_list arguments;
  va_start(arguments, call);
  (void)va_arg(arguments, int);
  (void)va_arg(arguments, int);
  const uint64_t *wanted = va_arg(arguments, const uint64_t *);
  uint64_t *found = va_arg(arguments, uint64_t *);
  va_end(arguments);
  // A limit that it sets is never above the hard one.
  if (wanted != NULL && wanted[0] > wanted[1]) abort();
  if (fails()) return -1;
  if (found != NULL) {
    static const uint64_t known[] = {0x444154414c455301, 0x444154414c455302, 0x444154414c455300, UINT64_MAX, 0};
    found[0] = byte() % 2 ? known[byte() % 5] : number();
    found[1] = byte() % 2 ? UINT64_MAX : number();
  }
  return 0;
}

static ssize_t fuzz_getxattr(const char *path, const char *name, void *value, size_t size) {
  (void)path, (void)name;
  static const char *const states[] = {"resident", "dataless", "partial", "materializing"};
  if (byte() % 2) {
    const char *state = states[byte() % 4];
    memcpy(value, state, strlen(state));
    return (ssize_t)strlen(state);
  }
  return give(value, size);
}

static ssize_t fuzz_fgetxattr(int descriptor, const char *name, void *value, size_t size) {
  (void)descriptor;
  return fuzz_getxattr("", name, value, size);
}

#define open(path, flags) fuzz_open(path, flags)
#define close(descriptor) fuzz_close(descriptor)
#define read(descriptor, buffer, count) fuzz_read(descriptor, buffer, count)
#define fstat(descriptor, status) fuzz_fstat(descriptor, status)
#define fcntl(...) fuzz_fcntl(__VA_ARGS__)
#define syscall(...) fuzz_syscall(__VA_ARGS__)
#define getxattr(path, name, value, size) fuzz_getxattr(path, name, value, size)
#define fgetxattr(descriptor, name, value, size) fuzz_fgetxattr(descriptor, name, value, size)
#include "../../Sources/CDataless/cdataless.c"

// What the functions may answer, whatever they were told.
static void check(int result, int before) {
  if (result < -1 || result > 2) abort();
  if (result >= 0 && errno != before) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input = data;
  left = size;
  // As after fork: no file is open.
  file = (struct namespace_file){-1, 0, 0};
  for (int calls = 0; left > 0 && calls < 16; calls++) {
    // Ids of threads are positive, and up to 2^22.
    thread = (int32_t)(1 + (number() & 0x3fffff));
    asked_low = cdataless_thread_start(thread);
    asked_high = asked_low + CDATALESS_THREAD_LENGTH;
    const int type = byte() % 4 ? IOPOL_TYPE_VFS_MATERIALIZE_DATALESS_FILES : (int)number();
    const int scope = byte() % 4 ? byte() % 2 : (int)number();
    const int policy = byte() % 4 ? byte() % 3 : (int)number();
    const int before = byte();
    uint32_t flags = 0xdeadbeef;
    errno = before;
    switch (byte() % 4) {
      case 0: check(setiopolicy_np(type, scope, policy), before); break;
      case 1: check(getiopolicy_np(type, scope), before); break;
      case 2: check(dataless_get_flags(byte() % 8 ? "p" : NULL, &flags), before); break;
      default: check(dataless_fget_flags((int)number(), byte() % 8 ? &flags : NULL), before); break;
    }
    if (flags != 0xdeadbeef && flags != 0 && flags != UF_TRACKED &&
        flags != (SF_DATALESS | UF_COMPRESSED | UF_TRACKED))
      abort();
  }
  return 0;
}
