// For processes that read what strangers wrote: descriptors over sockets, and a filter of system calls.
#ifndef CDATALESS_LINUX_HELPERS_H
#define CDATALESS_LINUX_HELPERS_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// Descriptors of one message; the kernel's own limit is 253.
#define CLINUX_DESCRIPTORS_MAX 128

struct clinux_descriptor_list {
  uint32_t count;
  int32_t numbers[CLINUX_DESCRIPTORS_MAX];
};

union clinux_descriptor_control {
  struct cmsghdr alignment;
  unsigned char bytes[CMSG_SPACE(sizeof(int32_t) * CLINUX_DESCRIPTORS_MAX)];
};

// Sends bytes, with descriptors beside the first of them. Returns the number of bytes taken. A peer that has gone is
// EPIPE, without a signal.
static inline long clinux_send_descriptors(
    int socket, const void *bytes, size_t size, const struct clinux_descriptor_list *list) {
  struct iovec part = {(void *)bytes, size};
  union clinux_descriptor_control control;
  __builtin_memset(&control, 0, sizeof control);
  struct msghdr header;
  __builtin_memset(&header, 0, sizeof header);
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (list->count > CLINUX_DESCRIPTORS_MAX) return -(long)EINVAL;
  if (list->count > 0) {
    header.msg_control = control.bytes;
    header.msg_controllen = CMSG_SPACE(sizeof(int32_t) * list->count);
    struct cmsghdr *entry = CMSG_FIRSTHDR(&header);
    entry->cmsg_level = SOL_SOCKET;
    entry->cmsg_type = SCM_RIGHTS;
    entry->cmsg_len = CMSG_LEN(sizeof(int32_t) * list->count);
    __builtin_memcpy(CMSG_DATA(entry), list->numbers, sizeof(int32_t) * list->count);
  }
  return clinux_result(syscall(SYS_sendmsg, socket, &header, MSG_NOSIGNAL));
}

// Receives bytes, and the descriptors beside them, close-on-exec: never more than the list holds, which the kernel sees
// to. Returns the number of bytes, 0 at the end.
static inline long clinux_receive_descriptors(
    int socket, void *bytes, size_t size, struct clinux_descriptor_list *list) {
  struct iovec part = {bytes, size};
  union clinux_descriptor_control control;
  struct msghdr header;
  __builtin_memset(&header, 0, sizeof header);
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes;
  header.msg_controllen = sizeof control.bytes;
  list->count = 0;
  const long count = clinux_result(syscall(SYS_recvmsg, socket, &header, MSG_CMSG_CLOEXEC));
  if (count <= 0) return count;
  for (struct cmsghdr *entry = CMSG_FIRSTHDR(&header); entry != NULL; entry = CMSG_NXTHDR(&header, entry)) {
    if (entry->cmsg_level != SOL_SOCKET || entry->cmsg_type != SCM_RIGHTS) continue;
    const size_t length = (size_t)entry->cmsg_len - CMSG_LEN(0);
    const size_t number = length / sizeof(int32_t);
    for (size_t index = 0; index < number && list->count < CLINUX_DESCRIPTORS_MAX; index++)
      __builtin_memcpy(&list->numbers[list->count++], CMSG_DATA(entry) + index * sizeof(int32_t), sizeof(int32_t));
  }
  return count;
}

// A process that runs while nobody else wants its processor; one as others are; one that others come before. Best
// effort.
static inline void clinux_run_when_idle(int32_t process) {
  const struct sched_param none = {0};
  const int idle = 5;
  syscall(SYS_sched_setscheduler, process, idle, &none);
}

static inline void clinux_run_as_others(int32_t process) {
  const struct sched_param none = {0};
  const int other = 0;
  syscall(SYS_sched_setscheduler, process, other, &none);
}

static inline void clinux_run_after_others(int32_t process) {
  const int one_process = 0, niceness = 10;
  syscall(SYS_setpriority, one_process, process, niceness);
}

// Reads files as another user does, for the calling thread alone: without the groups of whoever started it, which are
// gone for good then. 0 when the thread is that user now, else -errno.
static inline long clinux_read_files_as(uint32_t user, uint32_t group) {
  if (user != 0 && syscall(SYS_setgroups, 0ul, NULL) != 0) return -(long)errno;
  syscall(SYS_setfsgid, group);
  syscall(SYS_setfsuid, user);
  // A user id that is none changes nothing, and tells what is in force.
  return (uint32_t)syscall(SYS_setfsuid, (uint32_t)-1) == user ? 0 : -(long)EPERM;
}

// All ids, saved ones included, no further groups and no capability, root's neither; no process of that user may look
// at this one. 0, or -errno.
static inline long clinux_become_user(uint32_t user, uint32_t group) {
  if (syscall(SYS_geteuid) == 0) {
    // In a user namespace of an ordinary user, or without CAP_SETGID, nobody can: all that become root there are that
    // user already, with the same groups.
    if (syscall(SYS_setgroups, 0ul, NULL) != 0 && (user != 0 || errno != EPERM)) return -(long)errno;
    if (syscall(SYS_setresgid, group, group, group) != 0) return -(long)errno;
    if (syscall(SYS_setresuid, user, user, user) != 0) return -(long)errno;
  }
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
  if (syscall(SYS_capset, &header, none) != 0) return -(long)errno;
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return -(long)errno;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? -(long)errno : 0;
}

// From now on every thread of the process that is made has these system calls only: memory, the descriptors that there
// are, the socket, locks, clocks, its own end. Whatever else is called fails with EPERM: a library that looks for a file
// goes on without it. 0, or -errno.
static inline long clinux_allow_reading_only(void) {
#define CLINUX_ALLOW(call) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#if defined(__x86_64__)
  const uint32_t machine = AUDIT_ARCH_X86_64;
#else
  const uint32_t machine = AUDIT_ARCH_AARCH64;
#endif
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    CLINUX_ALLOW(SYS_read),
    CLINUX_ALLOW(SYS_pread64),
    CLINUX_ALLOW(SYS_lseek),
    CLINUX_ALLOW(SYS_fstat),
    // fstat(2) of the C library; of a path it is as good as stat(2), which tells no content.
    CLINUX_ALLOW(SYS_newfstatat),
    CLINUX_ALLOW(SYS_close),
    CLINUX_ALLOW(SYS_recvmsg),
    CLINUX_ALLOW(SYS_sendmsg),
    CLINUX_ALLOW(SYS_mmap),
    CLINUX_ALLOW(SYS_munmap),
    CLINUX_ALLOW(SYS_mremap),
    CLINUX_ALLOW(SYS_mprotect),
    CLINUX_ALLOW(SYS_madvise),
    CLINUX_ALLOW(SYS_brk),
    CLINUX_ALLOW(SYS_futex),
    CLINUX_ALLOW(SYS_clock_gettime),
    CLINUX_ALLOW(SYS_getrandom),
    CLINUX_ALLOW(SYS_sched_yield),
    CLINUX_ALLOW(SYS_rt_sigprocmask),
    CLINUX_ALLOW(SYS_rt_sigreturn),
    CLINUX_ALLOW(SYS_exit),
    CLINUX_ALLOW(SYS_exit_group),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  };
#undef CLINUX_ALLOW
  const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0 ? -(long)errno : 0;
}

#endif
