// One program that does to a volume what programs do, and says what came back: lines of key=value, errnos by name.
// Every command may block for as long as the volume likes; the harness puts a time limit on the whole process.
#ifndef PROBE_H
#define PROBE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// "ok", or the name of an errno.
static inline const char *outcome(long result, int error) {
  if (result >= 0) return "ok";
  const char *name = strerrorname_np(error);
  return name ? name : "unknown";
}

static inline int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// FNV-1a, to compare content without carrying it.
#define HASH_START 0xcbf29ce484222325ULL
static inline uint64_t hash_more(uint64_t hash, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < count; i++) hash = (hash ^ at[i]) * 0x100000001b3ULL;
  return hash;
}

// Prints bytes so that they stay in one word: everything but plain characters as \xHH.
void print_word(const char *bytes, size_t count);

// Prints a line that the harness waits for, at once.
void announce(const char *line);

// Returns when the harness closes our standard input.
void wait_for_harness(void);

int command_act(int count, char **arguments);
int command_change(int count, char **arguments);
int command_dump(int count, char **arguments);
int command_gui(int count, char **arguments);
int command_interrupted(int count, char **arguments);
int command_look(int count, char **arguments);
int command_map(int count, char **arguments);
int command_maphold(int count, char **arguments);
int command_mapwrite(int count, char **arguments);
int command_again(int count, char **arguments);
int command_sendfile(int count, char **arguments);
int command_splice(int count, char **arguments);
int command_copyrange(int count, char **arguments);
int command_race(int count, char **arguments);
int command_version(int count, char **arguments);
int command_uniform(int count, char **arguments);
int command_same(int count, char **arguments);
int command_trace(int count, char **arguments);

#endif
