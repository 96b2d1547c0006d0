#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "cdataless.h"
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

#define EXPORTED __attribute__((visibility("default")))

enum {
  magic = 0x31636c64,
  version = 1,
  inline_max = 64 << 10,
  kind_taken_away = 2,
  kind_news = 3,
  of_answer = 0x4000,
  of_presenter = 0x8000,
  options_all = DATALESS_COORDINATE_WITHOUT_MATERIALIZATION | DATALESS_COORDINATE_METADATA_ONLY |
                DATALESS_COORDINATE_MOVING | DATALESS_COORDINATE_DELETING | DATALESS_COORDINATE_REPLACING
};

struct request_head {
  uint32_t magic;
  uint16_t version;
  uint16_t options;
  uint32_t count;
  uint32_t inline_bytes;
  uint64_t within;
  uint64_t memory_bytes;
};

struct answer_head {
  uint32_t magic;
  uint16_t kind;
  uint16_t code;
  int32_t error;
  uint32_t text_bytes;
  uint64_t intent;
  int64_t waited_ns;
  int64_t materialized;
};

_Static_assert(sizeof(struct request_head) == 32 && sizeof(struct answer_head) == 40, "as the daemon reads them");

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
  bool is_it = last_until > now_seconds() && below_volume(&last_volume, path) != NULL;
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
    if (index > 0 || recall(absolute, volume)) name = below_volume(volume, absolute);
    if (name == NULL) {
      struct volume found;
      error = find_volume(absolute, &found, rest, sizeof rest);
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
    descriptor = connect_volume(&volume);
    if (descriptor == -ENOTCONN) {
      // Something else may be mounted there by now.
      keep(NULL);
      text.length = 0;
      error = collect(claims, count, &volume, &text);
      if (error == 0) descriptor = connect_volume(&volume);
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

static int start_for_caller(const struct dataless_claim *claims, size_t count, int flags, uint64_t within) {
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
  if ((flags & of_presenter) == 0) return start_for_caller(claims, count, flags, within);
  errno = EINVAL;
  return -1;
}

EXPORTED int dataless_present_start(const char *path) {
  const struct dataless_claim claim = {path, 0};
  return start_for_caller(&claim, 1, of_presenter, 0);
}

// ---- The answer --------------------------------------------------------------------------------------------------

// 0 when it is granted, else an errno.
static int receive(int descriptor, struct dataless_coordination *result) {
  struct {
    struct answer_head head;
    char text[sizeof result->message];
  } answer;
  ssize_t count;
  do count = recv(descriptor, &answer, sizeof answer, MSG_DONTWAIT);
  while (count < 0 && errno == EINTR);
  if (count < 0 && errno != ECONNRESET) return errno == ENOTSOCK ? EINVAL : errno;
  memset(result, 0, sizeof *result);
  if (count <= 0) {
    result->code = DATALESS_COORDINATION_VOLUME_ENDED;
    strcpy(result->message, "the volume's daemon has ended, or was killed");
    return result->error = ETIMEDOUT;
  }
  if ((size_t)count < sizeof answer.head || answer.head.magic != magic) return EINVAL;
  size_t length = (size_t)count - sizeof answer.head;
  if (length >= sizeof result->message) length = sizeof result->message - 1;
  memcpy(result->message, answer.text, length);
  result->code = answer.head.code;
  result->error = answer.head.error;
  result->intent = answer.head.intent;
  result->waited_ns = answer.head.waited_ns;
  result->materialized = answer.head.materialized;
  if (answer.head.kind == kind_taken_away && result->error == 0) result->error = ECANCELED;
  return result->error;
}

EXPORTED int dataless_coordinate_result(int descriptor, struct dataless_coordination *result) {
  const int before = errno;
  int error = result == NULL ? EFAULT : receive(descriptor, result);
  errno = error == 0 ? before : error;
  return error == 0 ? 0 : -1;
}

EXPORTED int dataless_coordinate_end(int descriptor) {
  const int before = errno;
  struct dataless_coordination last;
  int error;
  do error = receive(descriptor, &last);
  while (error == 0);
  // Held to the end, or not answered yet.
  if (error == EAGAIN) error = 0;
  if (error != EBADF && error != EINVAL) {
    // For all copies of the descriptor, in children, too.
    shutdown(descriptor, SHUT_RDWR);
    close(descriptor);
  }
  errno = error == 0 ? before : error;
  return error == 0 ? 0 : -1;
}

// ---- Presenters --------------------------------------------------------------------------------------------------

// 0, or an errno.
static int receive_news(int descriptor, struct dataless_news *news) {
  struct {
    struct answer_head head;
    char text[sizeof news->path];
  } message;
  for (;;) {
    ssize_t count = recv(descriptor, &message, sizeof message, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != ECONNRESET) return errno == ENOTSOCK ? EINVAL : errno;
    if (count <= 0) return ETIMEDOUT;
    if ((size_t)count < sizeof message.head || message.head.magic != magic) return EINVAL;
    // That it is taken up is no news.
    if (message.head.kind != kind_news && message.head.error == 0) continue;
    if (message.head.kind != kind_news) return message.head.error;
    size_t length = (size_t)count - sizeof message.head;
    if (length >= sizeof news->path) length = sizeof news->path - 1;
    news->what = message.head.code;
    news->intent = message.head.intent;
    news->others = message.head.materialized;
    memcpy(news->path, message.text, length);
    news->path[length] = 0;
    return 0;
  }
}

EXPORTED int dataless_present_next(int descriptor, struct dataless_news *news) {
  const int before = errno;
  int error = news == NULL ? EFAULT : receive_news(descriptor, news);
  errno = error == 0 ? before : error;
  return error == 0 ? 0 : -1;
}

EXPORTED int dataless_present_answer(int descriptor, uint64_t intent) {
  const int before = errno;
  const struct request_head head = {magic, version, of_answer, 0, 0, intent, 0};
  ssize_t count;
  do count = send(descriptor, &head, sizeof head, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (count < 0 && errno == EINTR);
  if (count >= 0) {
    errno = before;
    return 0;
  }
  if (errno == ENOTSOCK) errno = EINVAL;
  if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) errno = ETIMEDOUT;
  return -1;
}

EXPORTED int dataless_present_end(int descriptor) {
  const int before = errno;
  if (shutdown(descriptor, SHUT_RDWR) != 0 && errno != ENOTCONN) {
    if (errno == ENOTSOCK) errno = EINVAL;
    return -1;
  }
  close(descriptor);
  errno = before;
  return 0;
}

EXPORTED const char *dataless_coordination_name(int code) {
  static const char *const names[] = {
    "ok",
    "coordination_deadlock",
    "coordination_busy",
    "coordination_too_many_paths",
    "coordination_bad_path",
    "coordination_through_link",
    "coordination_outer_not_held",
    "coordination_taken_away",
    "coordination_volume_ended",
    "coordination_failed",
    "coordination_bad_request",
    "coordination_not_allowed",
  };
  return code >= 0 && (size_t)code < sizeof names / sizeof names[0] ? names[code] : "coordination_unknown";
}
