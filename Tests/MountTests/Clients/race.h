// What the processes of a race share: see race.c.
#ifndef RACE_H
#define RACE_H

#include "probe.h"

#include <stdatomic.h>

enum race_count {
  READS, PREADS, DIRECT_READS, SHARED_MAPS, PRIVATE_MAPS, KEPT_MAPS, SENDFILES, SPLICES, EXECS, KEPT_HANDLES, BYTES,
  EVICTIONS, EVICTIONS_REFUSED, MATERIALIZATIONS, KILLS, RACE_COUNTS
};

struct race_file {
  char name[64];
  const unsigned char *content;  // the file of SOURCE, mapped
  int64_t size;
  int is_program;
};

struct race_shared {
  atomic_int ending;  // set before the volume is told to end: from then on calls may fail
  atomic_int stop;
  atomic_int failures;
  atomic_long counts[RACE_COUNTS];
  atomic_long errors[256];  // by errno, after `ending`; 0 is SIGBUS
  char failure[512];        // the first one
};

struct race {
  uint64_t seed;
  const char *source, *mount, *socket;
  struct race_file files[64];
  int file_count;
  struct race_shared *shared;
};

struct race_worker {
  struct race *race;
  uint64_t random;
  int index;
};

uint64_t race_random(struct race_worker *worker);
void race_add(struct race_worker *worker, enum race_count count, long amount);

// The number of the first file, modulo their count, of those few at which all readers meet now.
uint64_t race_meeting(void);

// A call failed: an error before the volume was told to end is a failure of the race, one after it is only counted.
void race_error(struct race_worker *worker, const struct race_file *file, const char *what, int error);
// Something is wrong whenever it happens.
void race_wrong(struct race_worker *worker, const struct race_file *file, const char *what, int64_t offset);

// Bodies of the processes; they return when the race stops.
void race_read(struct race_worker *worker);
void race_command(struct race_worker *worker);

#endif
