#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "cdataless.h"
#include "materialize_result.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/types.h>

#define EXPORTED __attribute__((visibility("default")))

// Some bytes of what has begun to arrive. 0, or an errno.
static int receive(int descriptor, void *target, size_t left, int flags) {
  char *bytes = target;
  while (left > 0) {
    ssize_t count = recv(descriptor, bytes, left, flags);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == ENOTSOCK ? EINVAL : errno;
    // The other end goes when the result has been sent: it was read before.
    if (count == 0) return ENODATA;
    bytes += count;
    left -= (size_t)count;
    // The rest is on its way, from a thread that does nothing else.
    flags &= ~MSG_DONTWAIT;
  }
  return 0;
}

// The number of paths that are not local, or a negative errno.
static int64_t result(int descriptor, int *errors, size_t count) {
  if (errors == NULL) return -EFAULT;
  struct materialize_result head;
  int error = receive(descriptor, &head, sizeof head, MSG_DONTWAIT | MSG_PEEK);
  if (error != 0) return -error;
  if (head.magic != MATERIALIZE_RESULT_MAGIC || head.count != count) return -EINVAL;
  error = receive(descriptor, &head, sizeof head, MSG_DONTWAIT);
  int64_t failed = 0;
  for (size_t index = 0; error == 0 && index < count; index++) {
    int32_t value = 0;
    error = receive(descriptor, &value, sizeof value, 0);
    errors[index] = value;
    failed += value != 0;
  }
  // Whoever asks again is told so, and does not wait for a thread to close its end.
  if (error == 0) shutdown(descriptor, SHUT_RD);
  return error != 0 ? -error : failed;
}

EXPORTED int dataless_materialize_result(int descriptor, int *errors, size_t count) {
  const int before = errno;
  int64_t failed = result(descriptor, errors, count);
  errno = failed >= 0 ? before : (int)-failed;
  return failed >= 0 ? (int)failed : -1;
}
