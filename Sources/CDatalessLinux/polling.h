// What one thread needs to serve thousands of sockets: epoll(7), eventfd(2), accept4(2), sealed memory, and one message
// of a client.
#ifndef CDATALESS_LINUX_POLLING_H
#define CDATALESS_LINUX_POLLING_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const uint32_t CLINUX_POLL_IN = 0x001;
static const uint32_t CLINUX_POLL_OUT = 0x004;
static const uint32_t CLINUX_POLL_HANGUP = 0x2000;  // EPOLLRDHUP: the other end sends nothing any more.

#if defined(__x86_64__)
struct clinux_poll_event {
  uint32_t events;
  uint64_t token;
} __attribute__((packed));
#else
struct clinux_poll_event {
  uint32_t events;
  uint64_t token;
};
#endif

static inline long clinux_poll_create(void) { return clinux_result(syscall(SYS_epoll_create1, 02000000)); }

static inline long clinux_poll_add(int poll, int descriptor, uint32_t events, uint64_t token) {
  struct clinux_poll_event event;
  event.events = events;
  event.token = token;
  return clinux_result(syscall(SYS_epoll_ctl, poll, 1, descriptor, &event));
}

static inline long clinux_poll_modify(int poll, int descriptor, uint32_t events, uint64_t token) {
  struct clinux_poll_event event;
  event.events = events;
  event.token = token;
  return clinux_result(syscall(SYS_epoll_ctl, poll, 3, descriptor, &event));
}

static inline long clinux_poll_wait(int poll, struct clinux_poll_event *events, int count, int milliseconds) {
  return clinux_result(syscall(SYS_epoll_pwait, poll, events, count, milliseconds, NULL, 8));
}

static inline long clinux_event_create(void) { return clinux_result(syscall(SYS_eventfd2, 0, 02004000)); }

// SOCK_CLOEXEC | SOCK_NONBLOCK.
static inline long clinux_accept(int socket) { return clinux_result(syscall(SYS_accept4, socket, NULL, NULL, 02004000)); }

// Whether nobody can change a file any more: memory (memfd_create(2)) that is sealed against writing, growing and
// shrinking, so that reading it waits for nothing and nobody.
static inline int clinux_is_sealed(int descriptor) {
  const int get_seals = 1034, shrink_grow_write = 0x2 | 0x4 | 0x8;
  long seals = clinux_result(syscall(SYS_fcntl, descriptor, get_seals, 0));
  return seals >= 0 && (seals & shrink_grow_write) == shrink_grow_write;
}

// SO_PEERCRED, as the kernel recorded it at connect(2). 0, or -errno.
struct clinux_peer {
  int32_t process;
  uint32_t user;
  uint32_t group;
};

static inline long clinux_peer_of(int socket, struct clinux_peer *peer) {
  socklen_t size = sizeof *peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, peer, &size) == 0 ? 0 : -(long)errno;
}

#endif
