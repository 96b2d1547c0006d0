#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "cdataless.h"
#include "coordinate_message.h"
#include "coordinate_volume.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  inline_max = 64 << 10,
  options_all = DATALESS_COORDINATE_WITHOUT_MATERIALIZATION | DATALESS_COORDINATE_METADATA_ONLY |
                DATALESS_COORDINATE_MOVING | DATALESS_COORDINATE_DELETING | DATALESS_COORDINATE_REPLACING |
                DATALESS_COORDINATE_COMMAND
};

// ---- The volume that was asked last ------------------------------------------------------------------------------

static pthread_mutex_t last_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct volume last_volume;
static time_t last_until;

static time_t now_seconds(void) {
  struct timespec now;
  return clock_gettime(CLOCK_MONOTONIC_COARSE, &now) == 0 ? now.tv_sec : 0;
}

// Whoever finds the lock taken, also for ever by a thread that a fork has left behind, does without.
static bool recall(const char *path, struct volume *volume) {
  if (pthread_mutex_trylock(&last_mutex) != 0) return false;
  bool is_it = last_until > now_seconds() && cdataless_below_volume(&last_volume, path) != NULL;
  if (is_it) *volume = last_volume;
  pthread_mutex_unlock(&last_mutex);
  return is_it;
}

// Kept for a second: something else can be mounted at its place meanwhile.
static void keep(const struct volume *volume) {
  if (pthread_mutex_trylock(&last_mutex) != 0) return;
  last_until = volume == NULL ? 0 : now_seconds() + 2;
  if (volume != NULL) last_volume = *volume;
  pthread_mutex_unlock(&last_mutex);
}

// ---- The request -------------------------------------------------------------------------------------------------

struct text {
  char *bytes;
  size_t length;
  size_t room;
};

static int add(struct text *text, const void *bytes, size_t length) {
  if (text->length + length > text->room) {
    size_t room = 2 * (text->length + length) + 256;
    char *more = realloc(text->bytes, room);
    if (more == NULL) return ENOMEM;
    text->bytes = more;
    text->room = room;
  }
  memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
  return 0;
}

// The path with its empty components and those that are `.` left out.
static int add_path(struct text *text, bool writes, const char *path) {
  int error = add(text, writes ? "w" : "r", 1);
  bool is_first = true;
  while (error == 0 && *path != 0) {
    size_t length = strcspn(path, "/");
    if (length > 0 && !(length == 1 && path[0] == '.')) {
      if (!is_first) error = add(text, "/", 1);
      if (error == 0) error = add(text, path, length);
      is_first = false;
    }
    path += length;
    while (*path == '/') path++;
  }
  return error == 0 ? add(text, "", 1) : error;
}

// A path as it is from the root. 0, or an errno.
static int make_absolute(const char *path, char *absolute) {
  size_t length = 0;
  if (path[0] != '/') {
    // Asks no file system where the working directory is.
    if (getcwd(absolute, PATH_MAX) == NULL) return errno;
    length = strlen(absolute);
    if (length + 1 >= PATH_MAX) return ENAMETOOLONG;
    absolute[length++] = '/';
  }
  if (length + strlen(path) >= PATH_MAX) return ENAMETOOLONG;
  strcpy(absolute + length, path);
  return 0;
}

static int collect(const struct dataless_claim *claims, size_t count, struct volume *volume, struct text *text) {
  char absolute[PATH_MAX], rest[PATH_MAX];
  for (size_t index = 0; index < count; index++) {
    int error = make_absolute(claims[index].path, absolute);
    if (error != 0) return error;
    const char *name = NULL;
    if (index > 0 || recall(absolute, volume)) name = cdataless_below_volume(volume, absolute);
    if (name == NULL) {
      struct volume found;
      error = cdataless_find_volume(absolute, &found, rest, sizeof rest);
      if (error != 0) return error;
      if (index > 0 && strcmp(found.mountpoint, volume->mountpoint) != 0) return EXDEV;
      *volume = found;
      if (index == 0) keep(volume);
      name = rest;
    }
    error = add_path(text, claims[index].writes != 0, name);
    if (error != 0) return error;
  }
  return 0;
}

// The paths in memory that nobody can change any more: the daemon reads it, and waits for nobody. Negative: an errno.
static int seal(const struct text *text) {
  int memory = memfd_create("dataless-paths", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0) return -errno;
  size_t done = 0;
  while (done < text->length) {
    ssize_t count = write(memory, text->bytes + done, text->length - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += (size_t)count;
  }
  if (done == text->length &&
      fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
    return memory;
  int error = errno;
  close(memory);
  return error == 0 ? -ENOSPC : -error;
}

// 0, or an errno.
static int send_request(int descriptor, struct request_head *head, const struct text *text) {
  int memory = -1;
  union {
    struct cmsghdr alignment;
    unsigned char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec parts[2] = {{head, sizeof *head}, {text->bytes, text->length}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  if (text->length > inline_max) {
    memory = seal(text);
    if (memory < 0) return -memory;
    head->memory_bytes = text->length;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    struct cmsghdr *entry = CMSG_FIRSTHDR(&message);
    entry->cmsg_level = SOL_SOCKET;
    entry->cmsg_type = SCM_RIGHTS;
    entry->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(entry), &memory, sizeof memory);
  } else {
    head->inline_bytes = (uint32_t)text->length;
  }
  ssize_t count;
  do count = sendmsg(descriptor, &message, MSG_NOSIGNAL);
  while (count < 0 && errno == EINTR);
  int error = count < 0 ? errno : 0;
  if (memory >= 0) close(memory);
  // It was closed before it was read, and has said why: the answer tells.
  return error == EPIPE || error == ECONNRESET ? 0 : error;
}

// The caller's descriptor, or a negative errno.
static int start(const struct dataless_claim *claims, size_t count, int flags, uint64_t within) {
  if (claims == NULL) return -EFAULT;
  if (count == 0 || count > UINT32_MAX || (flags & ~(options_all | of_presenter)) != 0) return -EINVAL;
  for (size_t index = 0; index < count; index++)
    if (claims[index].path == NULL) return -EFAULT;
  struct text text = {NULL, 0, 0};
  struct volume volume;
  int error = collect(claims, count, &volume, &text);
  int descriptor = -1;
  if (error == 0) {
    descriptor = cdataless_connect_volume(&volume);
    if (descriptor == -ENOTCONN) {
      // Something else may be mounted there by now.
      keep(NULL);
      text.length = 0;
      error = collect(claims, count, &volume, &text);
      if (error == 0) descriptor = cdataless_connect_volume(&volume);
    }
    if (error == 0 && descriptor < 0) error = -descriptor;
  }
  if (error == 0) {
    struct request_head head = {magic, version, (uint16_t)flags, (uint32_t)count, 0, within, 0};
    error = send_request(descriptor, &head, &text);
    if (error != 0) close(descriptor);
  }
  free(text.bytes);
  return error == 0 ? descriptor : -error;
}

int cdataless_start(const struct dataless_claim *claims, size_t count, int flags, uint64_t within) {
  const int before = errno;
  int cancellation;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
  int descriptor = start(claims, count, flags, within);
  pthread_setcancelstate(cancellation, NULL);
  errno = descriptor >= 0 ? before : -descriptor;
  return descriptor >= 0 ? descriptor : -1;
}

EXPORTED int dataless_coordinate_start(
    const struct dataless_claim *claims, size_t count, int flags, uint64_t within) {
  if ((flags & of_presenter) == 0) return cdataless_start(claims, count, flags, within);
  errno = EINVAL;
  return -1;
}
