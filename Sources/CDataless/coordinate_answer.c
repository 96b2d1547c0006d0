#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "coordinate_message.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t next(int descriptor, void *message, size_t size, int flags) {
  ssize_t count;
  // Where the daemon has closed without reading what it was sent, that is said first, and then what it has answered.
  bool is_reset = false;
  do {
    count = recv(descriptor, message, size, MSG_DONTWAIT | flags);
    if (count < 0 && errno == ECONNRESET && !is_reset) is_reset = true;
    else if (count >= 0 || errno != EINTR) break;
  } while (true);
  return count;
}

// Whether nothing comes after a message: a refusal, or that what was granted is taken away; or it is of somebody else.
static bool is_final(const void *message, size_t count) {
  struct answer_head head;
  if (count < sizeof head) return true;
  memcpy(&head, message, sizeof head);
  return head.magic != magic || head.kind == kind_taken_away || head.error != 0;
}

ssize_t cdataless_receive(int descriptor, void *message, size_t size) {
  const ssize_t count = next(descriptor, message, size, MSG_PEEK);
  // It stays for who asks again, where otherwise the end of the connection would be: that of the volume.
  if (count <= 0 || is_final(message, (size_t)count)) return count;
  return next(descriptor, message, size, 0);
}

int cdataless_say_end(int descriptor) {
  const struct request_head head = {magic, version, of_end, 0, 0, 0, 0};
  ssize_t count;
  do count = send(descriptor, &head, sizeof head, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (count < 0 && errno == EINTR);
  return count < 0 ? errno : 0;
}

// 0 when it is granted, else an errno.
static int receive(int descriptor, struct dataless_coordination *result) {
  struct {
    struct answer_head head;
    char text[sizeof result->message];
  } answer;
  const ssize_t count = cdataless_receive(descriptor, &answer, sizeof answer);
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
    // For all copies of the descriptor, in children, too: the daemon tells who has one.
    cdataless_say_end(descriptor);
    shutdown(descriptor, SHUT_WR);
    close(descriptor);
  }
  errno = error == 0 ? before : error;
  return error == 0 ? 0 : -1;
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
