#ifndef COORDINATE_MESSAGE_H
#define COORDINATE_MESSAGE_H

#include "cdataless.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EXPORTED __attribute__((visibility("default")))

// What goes over a connection, as docs/COORDINATION.md has it.
enum {
  magic = 0x31636c64,
  version = 1,
  kind_taken_away = 2,
  kind_news = 3,
  of_answer = 0x4000,
  of_presenter = 0x8000,
  of_end = 0xC000
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

// Asks, on a connection of its own. The caller's descriptor, or -1 with errno set.
int cdataless_start(const struct dataless_claim *claims, size_t count, int flags, uint64_t within);

// Says that what a connection is for has ended, whatever comes next: the process may end, too. 0, or an errno.
int cdataless_say_end(int descriptor);

// The next message, without waiting: its length, 0 at the end, or -1 with errno set. The last one is there again and again.
ssize_t cdataless_receive(int descriptor, void *message, size_t size);

#endif
