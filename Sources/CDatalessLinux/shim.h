// Linux system calls and constants that Swift's Glibc module does not show: variadic ones, those behind _GNU_SOURCE and
// those younger than the C library. Every function answers its result, or the errno as a negative number, so that no
// Swift code can come between a call and its errno.
#ifndef CDATALESS_LINUX_SHIM_H
#define CDATALESS_LINUX_SHIM_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

// Numbers above 423 are the same on every architecture; kernel headers older than the call lack the name.
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_open_tree
#define SYS_open_tree 428
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "dataless is built for x86_64 and arm64; the open(2) flags below differ on other architectures"
#endif

// open(2) flags. Only these two differ between the architectures.
#if defined(__aarch64__)
static const int32_t CLINUX_O_DIRECTORY = 040000;
static const int32_t CLINUX_O_NOFOLLOW = 0100000;
static const int32_t CLINUX_O_TMPFILE = 020040000;
#else
static const int32_t CLINUX_O_DIRECTORY = 0200000;
static const int32_t CLINUX_O_NOFOLLOW = 0400000;
static const int32_t CLINUX_O_TMPFILE = 020200000;
#endif
static const int32_t CLINUX_O_NONBLOCK = 04000;
static const int32_t CLINUX_O_NOATIME = 01000000;
static const int32_t CLINUX_O_CLOEXEC = 02000000;
static const int32_t CLINUX_O_PATH = 010000000;

static const uint64_t CLINUX_RESOLVE_NO_XDEV = 0x01;
static const uint64_t CLINUX_RESOLVE_NO_MAGICLINKS = 0x02;
static const uint64_t CLINUX_RESOLVE_NO_SYMLINKS = 0x04;
static const uint64_t CLINUX_RESOLVE_BENEATH = 0x08;
static const uint64_t CLINUX_RESOLVE_CACHED = 0x20;  // Linux 5.12

static const int32_t CLINUX_AT_FDCWD = -100;
static const int32_t CLINUX_AT_SYMLINK_FOLLOW = 0x400;
static const int32_t CLINUX_AT_SYMLINK_NOFOLLOW = 0x100;
static const int32_t CLINUX_AT_NO_AUTOMOUNT = 0x800;
static const int32_t CLINUX_AT_EMPTY_PATH = 0x1000;
// Ask the server, whatever the kernel has cached; local file systems ignore it.
static const int32_t CLINUX_AT_STATX_FORCE_SYNC = 0x2000;
// Nothing is asked of a network or FUSE server: what the kernel knows has to do.
static const int32_t CLINUX_AT_STATX_DONT_SYNC = 0x4000;
static const int32_t CLINUX_AT_RECURSIVE = 0x8000;

static const int32_t CLINUX_SEEK_DATA = 3;
static const int32_t CLINUX_SEEK_HOLE = 4;

// fcntl(2) commands; the lease types are F_RDLCK, F_WRLCK and F_UNLCK.
static const int32_t CLINUX_F_SETLEASE = 1024;
static const int32_t CLINUX_F_GETLEASE = 1025;

static const int32_t CLINUX_FALLOC_FL_KEEP_SIZE = 0x01;
static const int32_t CLINUX_FALLOC_FL_PUNCH_HOLE = 0x02;

static const uint64_t CLINUX_MOUNT_ATTR_RDONLY = 0x01;
static const uint64_t CLINUX_MOUNT_ATTR_NODEV = 0x04;
static const uint64_t CLINUX_MOUNT_ATTR_NOATIME = 0x10;
static const uint64_t CLINUX_MOUNT_ATTR_ATIME_MASK = 0x70;

// STATX_BASIC_STATS, STATX_BTIME and STATX_MNT_ID.
static const uint32_t CLINUX_STATX_BASIC_STATS = 0x7ff;
static const uint32_t CLINUX_STATX_BTIME = 0x800;
static const uint32_t CLINUX_STATX_MNT_ID = 0x1000;

struct clinux_open_how {
  uint64_t flags;
  uint64_t mode;
  uint64_t resolve;
};

struct clinux_mount_attr {
  uint64_t set;
  uint64_t clear;
  uint64_t propagation;
  uint64_t userns_descriptor;
};

// struct flock of fcntl(2): its header would make this module, not Glibc, the owner of struct stat.
struct clinux_record_lock {
  int16_t type;
  int16_t whence;
  int64_t start;
  int64_t length;
  int32_t process;
};

struct clinux_statx_time {
  int64_t seconds;
  uint32_t nanoseconds;
  int32_t reserved;
};

// struct statx of linux/stat.h.
struct clinux_statx {
  uint32_t mask;
  uint32_t block_size;
  uint64_t attributes;
  uint32_t link_count;
  uint32_t uid;
  uint32_t gid;
  uint16_t mode;
  uint16_t reserved0;
  uint64_t inode;
  uint64_t size;
  uint64_t blocks;
  uint64_t attributes_mask;
  struct clinux_statx_time access_time;
  struct clinux_statx_time birth_time;
  struct clinux_statx_time change_time;
  struct clinux_statx_time modification_time;
  uint32_t special_major;
  uint32_t special_minor;
  uint32_t device_major;
  uint32_t device_minor;
  uint64_t mount_id;
  uint64_t reserved1[13];
};

_Static_assert(sizeof(struct clinux_open_how) == 24, "struct open_how");
_Static_assert(sizeof(struct clinux_mount_attr) == 32, "struct mount_attr");
_Static_assert(sizeof(struct clinux_record_lock) == 32, "struct flock");
_Static_assert(sizeof(struct clinux_statx) == 256, "struct statx");
_Static_assert(offsetof(struct clinux_statx, access_time) == 64, "struct statx");
_Static_assert(offsetof(struct clinux_statx, device_major) == 136, "struct statx");
_Static_assert(offsetof(struct clinux_statx, mount_id) == 144, "struct statx");
_Static_assert(sizeof(long) == 8, "offsets are passed to the kernel in one register");

static inline long clinux_result(long result) { return result < 0 ? -(long)errno : result; }

static inline long clinux_openat2(
    int directory, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve) {
  struct clinux_open_how how = {flags, mode, resolve};
  return clinux_result(syscall(SYS_openat2, directory, path, &how, sizeof how));
}

static inline long clinux_openat(int directory, const char *path, int flags, unsigned mode) {
  return clinux_result(syscall(SYS_openat, directory, path, flags, mode));
}

// Whether the first argument of a system call is the descriptor of a file that the call reads.
static inline int clinux_reads_first_descriptor(long number) {
  switch (number) {
  case SYS_read: case SYS_pread64: case SYS_readv: case SYS_preadv: case SYS_preadv2: case SYS_copy_file_range:
  case SYS_splice: case SYS_readahead: case SYS_fadvise64:
    return 1;
  default:
    return 0;
  }
}

// f_type of statfs(2): which file system an open file is on (linux/magic.h).
static inline long clinux_file_system_type(int descriptor) {
  struct statfs status;
  long result = clinux_result(fstatfs(descriptor, &status));
  return result < 0 ? result : (long)(uint32_t)status.f_type;
}

static inline long clinux_statx_call(
    int directory, const char *path, int flags, uint32_t mask, struct clinux_statx *status) {
  return clinux_result(syscall(SYS_statx, directory, path, flags, mask, status));
}

// Type and bytes of the handle that a file system gives an open item, in 32 bits, never 0 (FNV-1a). Where such a handle has a
// generation, it differs for each item that gets the same inode number. EOPNOTSUPP where there are no handles.
static inline long clinux_handle_hash(int descriptor) {
  struct {
    uint32_t size;
    int32_t type;
    uint8_t bytes[128];
  } handle;
  int mount;
  handle.size = sizeof handle.bytes;
  long result =
      clinux_result(syscall(SYS_name_to_handle_at, descriptor, "", &handle, &mount, CLINUX_AT_EMPTY_PATH));
  if (result < 0) return result;
  if (handle.size > sizeof handle.bytes) return -(long)EOVERFLOW;
  uint64_t hash = 0xcbf29ce484222325ull ^ (uint32_t)handle.type;
  for (uint32_t index = 0; index < handle.size; index++) hash = (hash ^ handle.bytes[index]) * 0x100000001b3ull;
  hash ^= hash >> 32;
  return (uint32_t)hash != 0 ? (long)(uint32_t)hash : 1;
}

static inline long clinux_getdents64(int directory, void *buffer, size_t size) {
  return clinux_result(syscall(SYS_getdents64, directory, buffer, size));
}

// OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH: a detached copy of the mount below `directory`.
static inline long clinux_clone_mount_tree(int directory) {
  const unsigned flags = 1u | 02000000u | 0x8000u | 0x1000u;
  return clinux_result(syscall(SYS_open_tree, directory, "", flags));
}

// Sets and clears attributes of a whole mount tree and makes it private (MS_PRIVATE), so that nothing is mounted into
// it.
static inline long clinux_set_mount_tree_attributes(int tree, uint64_t set, uint64_t clear) {
  struct clinux_mount_attr attributes = {set, clear, 1u << 18, 0};
  return clinux_result(
      syscall(SYS_mount_setattr, tree, "", 0x8000 | 0x1000, &attributes, sizeof attributes));
}

// Sends or receives one descriptor over a socket pair (SCM_RIGHTS), with the errno of a failure beside it.
struct clinux_descriptor_message {
  struct msghdr header;
  struct iovec part;
  int status;
  union {
    struct cmsghdr alignment;
    unsigned char bytes[CMSG_SPACE(sizeof(int))];
  } control;
};

static inline void clinux_prepare_message(struct clinux_descriptor_message *message) {
  __builtin_memset(message, 0, sizeof *message);
  message->part.iov_base = &message->status;
  message->part.iov_len = sizeof message->status;
  message->header.msg_iov = &message->part;
  message->header.msg_iovlen = 1;
  message->header.msg_control = message->control.bytes;
  message->header.msg_controllen = sizeof message->control.bytes;
}

// The body of the child below: only system calls, because other threads of the parent may have held any lock.
static inline void clinux_clone_mount_tree_in_child(const char *path, int socket) {
  struct clinux_descriptor_message message;
  clinux_prepare_message(&message);
  // The parent's descriptor names a mount of the parent's namespace, which may not be cloned here: open the path again.
  long tree = syscall(SYS_openat, -100, path, CLINUX_O_PATH | CLINUX_O_DIRECTORY | CLINUX_O_CLOEXEC, 0);
  if (tree >= 0) tree = clinux_clone_mount_tree((int)tree);
  // The access-time mode is locked here, but a read-only mount moves no access time.
  long result = tree < 0 ? -(long)errno : clinux_set_mount_tree_attributes((int)tree, 0x1 | 0x4, 0);
  message.status = (int)result;
  if (result == 0) {
    struct cmsghdr *control = CMSG_FIRSTHDR(&message.header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(int));
    *(int *)(void *)CMSG_DATA(control) = (int)tree;
  } else {
    message.header.msg_control = NULL;
    message.header.msg_controllen = 0;
  }
  syscall(SYS_sendmsg, socket, &message.header, MSG_NOSIGNAL);
  syscall(SYS_exit_group, 0);
}

// A detached, recursive, private, read-only copy of the mount below `path`, for a user without CAP_SYS_ADMIN.
//
// A child in a user and mount namespace of its own makes it and passes the descriptor back; the child has ended when
// this returns. No SIGCHLD is sent for it, and no handler of fork(2) runs. EPERM, ENOSPC or EUSERS where the system
// does not let users have namespaces.
static inline long clinux_clone_mount_tree_as_user(const char *path) {
  int pair[2];
  if (syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) return -(long)errno;
  // CLONE_NEWUSER | CLONE_NEWNS without an exit signal, the address space copied as by fork(2).
  const long child = syscall(SYS_clone, 0x10000000ul | 0x00020000ul, 0, 0, 0, 0);
  if (child == 0) clinux_clone_mount_tree_in_child(path, pair[1]);
  long result = child < 0 ? -(long)errno : 0;
  close(pair[1]);
  if (child > 0) {
    struct clinux_descriptor_message message;
    clinux_prepare_message(&message);
    long count;
    do count = syscall(SYS_recvmsg, pair[0], &message.header, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    struct cmsghdr *control = CMSG_FIRSTHDR(&message.header);
    // Nothing arrives when the child was killed.
    if (count != (long)sizeof message.status) result = -(long)EIO;
    else if (message.status < 0) result = message.status;
    else if (control == NULL || control->cmsg_type != SCM_RIGHTS) result = -(long)EMFILE;
    else result = *(int *)(void *)CMSG_DATA(control);
    int status;
    const int any_child = 0x40000000;  // __WALL: children without an exit signal too.
    while (syscall(SYS_wait4, child, &status, any_child, NULL) < 0 && errno == EINTR) {}
  }
  close(pair[0]);
  return result;
}

static inline long clinux_fallocate(int descriptor, int mode, int64_t offset, int64_t length) {
  return clinux_result(syscall(SYS_fallocate, descriptor, mode, offset, length));
}

// FICLONE.
static inline long clinux_clone_file(int to, int from) {
  return clinux_result(syscall(SYS_ioctl, to, 0x40049409ul, from));
}

// All that was written to the file system of a descriptor is on its disk.
static inline long clinux_sync_file_system(int descriptor) { return clinux_result(syscall(SYS_syncfs, descriptor)); }

static inline long clinux_getxattr(const char *path, const char *name, void *value, size_t size) {
  return clinux_result(syscall(SYS_getxattr, path, name, value, size));
}

static inline long clinux_setxattr(
    const char *path, const char *name, const void *value, size_t size, int flags) {
  return clinux_result(syscall(SYS_setxattr, path, name, value, size, flags));
}

static inline long clinux_lsetxattr(
    const char *path, const char *name, const void *value, size_t size, int flags) {
  return clinux_result(syscall(SYS_lsetxattr, path, name, value, size, flags));
}

static inline long clinux_listxattr(const char *path, char *names, size_t size) {
  return clinux_result(syscall(SYS_listxattr, path, names, size));
}

// CLONE_NEWNS for the calling thread: what it mounts afterwards nobody else sees, and it goes with the thread.
static inline long clinux_unshare_mounts(void) { return clinux_result(syscall(SYS_unshare, 0x00020000)); }

// The soft limit of a process, given by the id of any of its threads. EPERM for a process of another user.
static inline long clinux_soft_limit(int32_t thread, int32_t resource, uint64_t *soft) {
  uint64_t limits[2];
  long result = clinux_result(syscall(SYS_prlimit64, thread, resource, NULL, limits));
  if (result == 0) *soft = limits[0];
  return result;
}

// The first record lock in a range of an open file, whoever holds it (F_OFD_GETLK for a write lock). Waits for nothing.
//
// Returns 1 with its first byte and the process that holds it (-1 if none does, 0 if it is in another pid namespace), or 0.
static inline long clinux_find_record_lock(
    int descriptor, int64_t start, int64_t length, int64_t *found, int32_t *process) {
  const int16_t write_lock = 1, no_lock = 2;
  const int get_lock = 36;
  struct clinux_record_lock lock = {write_lock, SEEK_SET, start, length, 0};
  long result = clinux_result(syscall(SYS_fcntl, descriptor, get_lock, &lock));
  if (result < 0 || lock.type == no_lock) return result;
  *found = lock.start;
  *process = lock.process;
  return 1;
}

// Takes a record lock over a whole open file for this process (F_SETLK, a write lock). Waits for nothing.
//
// It goes when the process ends, or closes *any* descriptor of the file; children do not inherit it.
static inline long clinux_take_record_lock(int descriptor) {
  const int16_t write_lock = 1;
  const int set_lock = 6;
  struct clinux_record_lock lock = {write_lock, SEEK_SET, 0, 0, 0};
  return clinux_result(syscall(SYS_fcntl, descriptor, set_lock, &lock));
}

// A close-on-exec descriptor of a process, which stays its own when the process id is given to another one.
static inline long clinux_pidfd_open(int32_t process) { return clinux_result(syscall(SYS_pidfd_open, process, 0)); }

// Whether a thread belongs to a process: a signal 0 is not sent. EPERM says that it does, too.
static inline int clinux_is_thread_of(int32_t thread, int32_t process) {
  long result = clinux_result(syscall(SYS_tgkill, process, thread, 0));
  return result == 0 || result == -EPERM;
}

// pidfd_send_signal(2).
static inline long clinux_send_signal(int process, int signal) {
  return clinux_result(syscall(SYS_pidfd_send_signal, process, signal, NULL, 0));
}

// A command between fork(2) and exec(2). Arrays of strings end with NULL; masks have bit 0 for signal 1.
struct clinux_command {
  // Paths of the program, tried in this order.
  char *const *paths;
  char *const *arguments;
  char *const *environment;
  uint64_t blocked_signals;
  uint64_t default_signals;
  uint64_t ignored_signals;
  // Becomes descriptor 1, unless it is negative.
  int32_t output;
  // Closed before exec(2), which may take long for a program on a volume; negative for none.
  int32_t closed;
};

// What rt_sigaction(2) takes on both architectures.
struct clinux_signal_action {
  uint64_t handler;
  uint64_t flags;
  uint64_t restorer;
  uint64_t mask;
};

// The child of `clinux_start`: only system calls, because other threads of the parent may have held any lock.
static inline void clinux_become(const struct clinux_command *command, int32_t failures) {
  for (int signal = 1; signal <= 64; signal++) {
    const uint64_t bit = 1ull << (signal - 1);
    struct clinux_signal_action action = {0, 0, 0, 0};
    if (command->ignored_signals & bit) action.handler = 1;
    else if (!(command->default_signals & bit)) continue;
    syscall(SYS_rt_sigaction, signal, &action, NULL, sizeof action.mask);
  }
  if (command->closed >= 0) syscall(SYS_close, command->closed);
  const int set_mask = 2;
  syscall(SYS_rt_sigprocmask, set_mask, &command->blocked_signals, NULL, sizeof command->blocked_signals);
  int32_t failure = ENOENT;
  if (command->output >= 0 && syscall(SYS_dup3, command->output, 1, 0) < 0) failure = errno;
  else {
    for (char *const *path = command->paths; *path != NULL; path++) {
      syscall(SYS_execve, *path, command->arguments, command->environment);
      // One that may not be executed says more than none in the next directory.
      if (errno == EACCES) failure = EACCES;
      else if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE) {
        failure = errno;
        break;
      }
    }
  }
  syscall(SYS_write, failures, &failure, sizeof failure);
  syscall(SYS_exit_group, 127);
}

// Starts a command: clone(2) as fork(2) does it, without its handlers. posix_spawn(3) cannot give it an ignored SIGCHLD
// that its parent does not ignore.
//
// Returns its process id at once. `failures`, the writing end of a close-on-exec pipe, gets the errno if it cannot be
// executed.
static inline long clinux_start(const struct clinux_command *command, int32_t failures) {
  const unsigned long child_signal = 17;
  const long child = syscall(SYS_clone, child_signal, 0, 0, 0, 0);
  if (child == 0) clinux_become(command, failures);
  return clinux_result(child);
}

static inline long clinux_readlinkat(int directory, const char *path, char *target, size_t size) {
  return clinux_result(syscall(SYS_readlinkat, directory, path, target, size));
}

// What a system call does, by its number. A 32-bit program has other numbers: they are not told apart.
enum { CLINUX_CALL_OTHER, CLINUX_CALL_READS, CLINUX_CALL_MOVES, CLINUX_CALL_PATH };

// Reads a file into memory; moves a file's bytes inside the kernel, which memory does not see; or is given a path.
static inline int clinux_call_kind(long number) {
  switch (number) {
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
      return CLINUX_CALL_READS;
    case SYS_sendfile:
    case SYS_splice:
    case SYS_copy_file_range:
    case SYS_readahead:
    case SYS_fadvise64:
      return CLINUX_CALL_MOVES;
#if defined(__x86_64__)
    case SYS_open:
    case SYS_stat:
    case SYS_lstat:
    case SYS_access:
    case SYS_readlink:
#endif
    case SYS_openat:
    case SYS_openat2:
    case SYS_statx:
    case SYS_newfstatat:
    case SYS_faccessat:
    case SYS_readlinkat:
    case SYS_chdir:
      return CLINUX_CALL_PATH;
    default:
      return CLINUX_CALL_OTHER;
  }
}

// Whether a call waits for something else than a file: for time, events, locks or other processes. Who stands in one
// waits for no file, whatever the kernel has fetched for it ahead; the few bytes that such a call reads or writes in memory
// lie in no mapping of a file as a rule.
static inline int clinux_waits_elsewhere(long number) {
  switch (number) {
#if defined(__x86_64__)
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
    case SYS_pause:
#endif
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
    case SYS_futex:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_sched_yield:
    case SYS_restart_syscall:
      return 1;
    default:
      return 0;
  }
}

// Memory of another process. Returns the bytes read, fewer where a part is not mapped. Waits for the lock of that memory,
// and cannot be killed meanwhile.
static inline long clinux_read_process_memory(int32_t process, uint64_t address, void *buffer, size_t size) {
  struct { void *base; size_t size; } local = {buffer, size};
  struct { uint64_t base, size; } remote = {address, size};
  return clinux_result(syscall(SYS_process_vm_readv, process, &local, 1ul, &remote, 1ul, 0ul));
}

#include "helpers.h"
#include "polling.h"

#endif
