#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "coordinate_message.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

EXPORTED int dataless_present_start(const char *path) {
  const struct dataless_claim claim = {path, 0};
  return cdataless_start(&claim, 1, of_presenter, 0);
}

// 0, or an errno.
static int receive_news(int descriptor, struct dataless_news *news) {
  struct {
    struct answer_head head;
    char text[sizeof news->path];
  } message;
  for (;;) {
    const ssize_t count = cdataless_receive(descriptor, &message, sizeof message);
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
  if (cdataless_say_end(descriptor) == ENOTSOCK) {
    errno = EINVAL;
    return -1;
  }
  if (shutdown(descriptor, SHUT_RDWR) != 0 && errno != ENOTCONN) {
    if (errno == ENOTSOCK) errno = EINVAL;
    return -1;
  }
  close(descriptor);
  errno = before;
  return 0;
}
