// Which operation has which number, and what a pristine file is.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "content.h"

static const struct {
  const char *name;
  uint32_t weight;
} kinds[KINDS] = {
    [READ] = {"read", 180},        [WRITE] = {"write", 180},          [APPEND] = {"append", 30},
    [TRUNCATE] = {"truncate", 40}, [MAP_READ] = {"map read", 100},    [MAP_WRITE] = {"map write", 120},
    [MSYNC] = {"msync", 10},       [PUNCH] = {"punch", 30},           [ZERO] = {"zero", 25},
    [ALLOCATE] = {"allocate", 10}, [COPY] = {"copy_file_range", 30},  [SENDFILE] = {"sendfile", 10},
    [DIRECT_READ] = {"direct read", 20}, [DIRECT_WRITE] = {"direct write", 20}, [REOPEN] = {"reopen", 20},
    [CLOSE] = {"close", 20},       [SYNC] = {"fsync", 4},             [STAT] = {"stat", 60},
    [HOLES] = {"holes", 10},       [REPLACE] = {"replace", 5},        [TAKE] = {"take", 3},
    [CHECK] = {"check", 3},        [EVICT] = {"evict", 0},            [MATERIALIZE] = {"materialize", 0},
    [REFRESH] = {"refresh", 0},    [REMOUNT] = {"remount", 0},
};

static uint64_t mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

static enum kind kind_of(const struct run *run, uint64_t chance) {
  if (run->hook && run->hook_every && chance % run->hook_every == 0) {
    static const enum kind hooks[] = {EVICT, EVICT, EVICT, MATERIALIZE, REFRESH, REMOUNT};
    enum kind kind = hooks[(chance >> 32) % 6];
    return kind == REMOUNT && !run->remounts ? EVICT : kind;
  }
  uint32_t sum = 0;
  for (int kind = 0; kind < KINDS; kind++) sum += kinds[kind].weight;
  uint32_t place = (uint32_t)((chance >> 20) % sum);
  for (int kind = 0;; kind++) {
    if (place < kinds[kind].weight) return (enum kind)kind;
    place -= kinds[kind].weight;
  }
}

// Mostly small, sometimes to the end.
static uint32_t length_of(uint64_t chance) {
  uint32_t most[] = {16, 300, 300, 4096, 4096, 20000, 70000};
  return 1 + (uint32_t)((chance >> 8) % most[chance % 7]);
}

struct op op_of(const struct run *run, uint32_t number) {
  uint64_t chance = mixed(run->seed ^ mixed(number)), more = mixed(chance);
  struct op op = {.kind = kind_of(run, chance), .number = number};
  op.file = (uint32_t)(more % FILES);
  op.variant = (uint32_t)(more >> 8) & 0xff;
  op.length = length_of(more >> 16);
  // Half of them near the beginning, so that they meet.
  op.offset = (uint32_t)((mixed(more) >> 8) % (more >> 40 & 1 ? LONGEST : 40000));
  if (op.kind == TRUNCATE || op.kind == REPLACE) op.length = op.offset;
  if (op.offset + op.length > LONGEST) op.length = LONGEST - op.offset;
  return op;
}

bool leave_out(struct run *run, const char *name) {
  for (int kind = 0; kind < KINDS; kind++) {
    if (strcmp(kinds[kind].name, name) == 0) return run->off[kind] = true;
  }
  return false;
}

void describe(const struct op *op, char *text, int room) {
  snprintf(text, (size_t)room, "#%u %s of %c, offset %u, length %u, variant %u", op->number, kinds[op->kind].name,
           (int)('a' + op->file), op->offset, op->length, op->variant);
}

uint32_t pristine_size(uint32_t number) {
  uint64_t chance = mixed(number * 7 + 1);
  uint32_t most[] = {1, 10, 4097, 20000, 131073, LONGEST};
  return (uint32_t)((chance >> 8) % most[chance % 6]);
}

void pristine_bytes(uint32_t number, unsigned char *bytes, uint32_t size) {
  for (uint32_t place = 0; place < size; place++)
    bytes[place] = (unsigned char)(1 + (place * 131u + (place >> 8) * 17u + number * 29u) % 255);
}

int pristine_make(const char *path, uint32_t number) {
  uint32_t size = pristine_size(number);
  unsigned char *bytes = malloc(LONGEST);
  int descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644), result = -1;
  if (descriptor >= 0 && bytes) {
    pristine_bytes(number, bytes, size);
    result = size == 0 || write(descriptor, bytes, size) == (ssize_t)size ? 0 : -1;
  }
  if (descriptor >= 0 && close(descriptor) != 0) result = -1;
  free(bytes);
  return result;
}
