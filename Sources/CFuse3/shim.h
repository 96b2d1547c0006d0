// What Swift cannot see of libfuse and the FUSE protocol: macros, inline functions that replaced functions in
// libfuse 3.17, bit-fields, cmsg macros, and protocol structures newer than the kernel headers of Debian 12.
// Everything here starts with cfuse_ and is used by FuseKit only.
#ifndef CFUSE3_SHIM_H
#define CFUSE3_SHIM_H

// Must precede every libfuse header. 3.14 is the oldest API we build with; 3.17 and later keep it.
#define FUSE_USE_VERSION 314
// No _GNU_SOURCE here: it changes the members of fd_set and others, which Swift has imported without it.

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// Protocol bits of INIT, as one 64 bit word (flags | flags2 << 32). The kernel headers at hand may lack the newer ones.
static const uint64_t cfuse_init_atomic_o_trunc = 1ULL << 3;
static const uint64_t cfuse_init_dont_mask = 1ULL << 6;
static const uint64_t cfuse_init_auto_inval_data = 1ULL << 12;
static const uint64_t cfuse_init_do_readdirplus = 1ULL << 13;
static const uint64_t cfuse_init_readdirplus_auto = 1ULL << 14;
static const uint64_t cfuse_init_writeback_cache = 1ULL << 16;
static const uint64_t cfuse_init_parallel_dirops = 1ULL << 18;
static const uint64_t cfuse_init_posix_acl = 1ULL << 20;
static const uint64_t cfuse_init_cache_symlinks = 1ULL << 23;
static const uint64_t cfuse_init_explicit_inval_data = 1ULL << 25;
static const uint64_t cfuse_init_handle_killpriv_v2 = 1ULL << 28;
static const uint64_t cfuse_init_ext = 1ULL << 30;
static const uint64_t cfuse_init_direct_io_allow_mmap = 1ULL << 36;
static const uint64_t cfuse_init_passthrough = 1ULL << 37;

// FOPEN_* bits of an open answer, likewise.
static const uint32_t cfuse_fopen_direct_io = 1U << 0;
static const uint32_t cfuse_fopen_keep_cache = 1U << 1;
static const uint32_t cfuse_fopen_nonseekable = 1U << 2;
static const uint32_t cfuse_fopen_cache_dir = 1U << 3;
static const uint32_t cfuse_fopen_noflush = 1U << 5;
static const uint32_t cfuse_fopen_parallel_direct_writes = 1U << 6;
static const uint32_t cfuse_fopen_passthrough = 1U << 7;

// What libfuse 3.14 keeps from its callbacks: see HiddenFields.
static const uint32_t cfuse_open_kill_suidgid = 1U << 0;
static const uint32_t cfuse_write_kill_suidgid = 1U << 2;
static const uint32_t cfuse_fattr_fh = 1U << 6;
static const uint32_t cfuse_fattr_lockowner = 1U << 9;

// Notification codes: enum fuse_notify_code and what was added after it.
static const int32_t cfuse_notify_inval_inode = 2;
static const int32_t cfuse_notify_inval_entry = 3;
static const int32_t cfuse_notify_delete = 6;
static const int32_t cfuse_notify_inc_epoch = 8;
static const int32_t cfuse_notify_prune = 9;
static const uint32_t cfuse_entry_expire_only = 1U << 0;

static const uint32_t cfuse_op_init = 26;
static const uint32_t cfuse_op_count = 64;

// The 7.36+ layout of the INIT request's body and of its reply, with the fields the older headers call unused.
struct cfuse_init_in {
  uint32_t major, minor, max_readahead, flags, flags2;
  uint32_t unused[11];
};
struct cfuse_init_out {
  uint32_t major, minor, max_readahead, flags;
  uint16_t max_background, congestion_threshold;
  uint32_t max_write, time_gran;
  uint16_t max_pages, map_alignment;
  uint32_t flags2, max_stack_depth;
  uint16_t request_timeout;
  uint16_t unused[11];
};
struct cfuse_open_out {
  uint64_t fh;
  uint32_t open_flags;
  int32_t backing_id;
};
struct cfuse_notify_inval_entry_out {
  uint64_t parent;
  uint32_t namelen, flags;
};
struct cfuse_notify_prune_out {
  uint32_t count, padding;
  uint64_t spare;
};
struct cfuse_backing_map {
  int32_t fd;
  uint32_t flags;
  uint64_t padding;
};
_Static_assert(sizeof(struct cfuse_init_out) == sizeof(struct fuse_init_out), "INIT reply is 64 bytes");
_Static_assert(sizeof(struct cfuse_open_out) == sizeof(struct fuse_open_out), "open reply is 16 bytes");
_Static_assert(sizeof(struct fuse_entry_out) == 128, "entry reply is 128 bytes");
_Static_assert(sizeof(struct fuse_attr_out) == 104, "attribute reply is 104 bytes");
_Static_assert(sizeof(struct fuse_in_header) == 40, "request header is 40 bytes");
_Static_assert(offsetof(struct fuse_direntplus, dirent.name) == 152, "direntplus name starts at 152");

// fuse_session_new is a function in 3.14 and a macro over an inline function since 3.17.
static inline struct fuse_session *cfuse_session_new(
    struct fuse_args *args, const struct fuse_lowlevel_ops *ops, size_t size, void *userdata) {
  return fuse_session_new(args, ops, size, userdata);
}

// Asks for one FUSE_CAP_* if the kernel offers it, or gives one up. The set is wider since 3.17; its own setter there,
// fuse_set_feature_flag, is in the header but not in every library.
static inline void cfuse_want(struct fuse_conn_info *conn, uint32_t capability, int on) {
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17)
  conn->want_ext = on ? conn->want_ext | (conn->capable_ext & capability) : conn->want_ext & ~(uint64_t)capability;
#else
  conn->want = on ? conn->want | (conn->capable & capability) : conn->want & ~capability;
#endif
}

// The capabilities FuseKit decides about, chosen here because their C types differ between releases.
static inline void cfuse_want_defaults(struct fuse_conn_info *conn, int readdirplus) {
  cfuse_want(conn, FUSE_CAP_READDIRPLUS, readdirplus);
  cfuse_want(conn, FUSE_CAP_READDIRPLUS_AUTO, 0);
  cfuse_want(conn, FUSE_CAP_POSIX_ACL, 1);
  cfuse_want(conn, FUSE_CAP_ATOMIC_O_TRUNC, 1);
  cfuse_want(conn, FUSE_CAP_CACHE_SYMLINKS, 1);
  cfuse_want(conn, FUSE_CAP_EXPLICIT_INVAL_DATA, 1);
  cfuse_want(conn, FUSE_CAP_ASYNC_READ, 1);
  cfuse_want(conn, FUSE_CAP_ASYNC_DIO, 1);
  cfuse_want(conn, FUSE_CAP_AUTO_INVAL_DATA, 0);
  cfuse_want(conn, FUSE_CAP_WRITEBACK_CACHE, 0);
  cfuse_want(conn, FUSE_CAP_POSIX_LOCKS, 0);
  cfuse_want(conn, FUSE_CAP_FLOCK_LOCKS, 0);
  cfuse_want(conn, FUSE_CAP_SPLICE_READ, 0);
  cfuse_want(conn, FUSE_CAP_SPLICE_WRITE, 0);
  cfuse_want(conn, FUSE_CAP_SPLICE_MOVE, 0);
}

// Whether modes come as the caller gave them, with the umask beside them: who serves POSIX ACLs has to know both.
static inline void cfuse_want_unmasked_modes(struct fuse_conn_info *conn, int on) {
  cfuse_want(conn, FUSE_CAP_DONT_MASK, on);
}

// SIGRTMIN is a function call in glibc. Nothing else in a Swift process on Linux uses this number.
static inline int cfuse_wake_signal(void) { return SIGRTMIN + 11; }

// Not in Swift's Glibc module. Returns a descriptor that becomes readable when 8 bytes are written to it, or -1.
static inline int cfuse_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

// dup3 and pthread_setname_np are declared with _GNU_SOURCE only. Makes `to` a close-on-exec copy of `from`.
static inline int cfuse_replace_descriptor(int from, int to) { return (int)syscall(SYS_dup3, from, to, O_CLOEXEC); }

// Names the calling thread, as ps and the debugger show it: at most 15 bytes.
static inline void cfuse_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// A statistics counter that many threads bump and nothing is ordered by.
static inline void cfuse_counter_add(uint64_t *counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }
static inline uint64_t cfuse_counter_load(const uint64_t *counter) {
  return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

// Declared with _GNU_SOURCE only. Has the program begin without descriptors from `first` on; `actions` is a
// posix_spawn_file_actions_t. Answers 0 or an errno.
int cfuse_spawn_without_descriptors(void *actions, int first) __asm__("posix_spawn_file_actions_addclosefrom_np");

// ioctl is variadic. Returns the backing id (> 0) or -errno.
static inline int cfuse_backing_open(int device, int fd) {
  struct cfuse_backing_map map = {fd, 0, 0};
  int id = ioctl(device, _IOW(229, 1, struct cfuse_backing_map), &map);
  return id < 0 ? -errno : id;
}
static inline int cfuse_backing_close(int device, int id) {
  uint32_t number = (uint32_t)id;
  return ioctl(device, _IOW(229, 2, uint32_t), &number) < 0 ? -errno : 0;
}

// Receives one descriptor with SCM_RIGHTS, close-on-exec. Returns it, -errno, or -EPROTO if the peer sent none.
static inline int cfuse_receive_descriptor(int socket) {
  char byte;
  struct iovec vector = {&byte, 1};
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
  } control;
  struct msghdr message;
  memset(&message, 0, sizeof message);
  memset(&control, 0, sizeof control);
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.space;
  message.msg_controllen = sizeof control.space;
  ssize_t count;
  do
    count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (count < 0 && errno == EINTR);
  if (count < 0)
    return -errno;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (count == 0 || !header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
    return -EPROTO;
  int fd;
  memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return fd;
}

#endif
