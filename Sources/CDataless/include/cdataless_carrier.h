// How a policy travels from the library to the daemon: shared by the two, and not installed. docs/POLICY.md says why so.
#ifndef CDATALESS_CARRIER_H
#define CDATALESS_CARRIER_H

#include <stdint.h>

// The process' policy is the soft limit of RLIMIT_LOCKS, which Linux ignores since 2.4.25: these seven bytes ("DATALES")
// and the policy. Any other value means that none was set.
static const uint64_t CDATALESS_PROCESS_MAGIC = 0x444154414c455300;
static const uint64_t CDATALESS_PROCESS_OFF = 0x444154414c455301;
static const uint64_t CDATALESS_PROCESS_ON = 0x444154414c455302;
static const int32_t CDATALESS_RLIMIT_LOCKS = 10;

// A thread's policy is a record lock (fcntl(2), F_SETLK, F_RDLCK) of its process on the file of their pid namespace. The
// lock covers one byte, whose offset tells all: the thread's id in that namespace, its start time in clock ticks, and the
// policy.
#define CDATALESS_NAMESPACE_FILE "/proc/self/ns/pid"

// Clock ticks wrap after 87 years.
static const int32_t CDATALESS_THREAD_SHIFT = 40;
static const uint64_t CDATALESS_TICKS_MASK = (UINT64_C(1) << 38) - 1;
static const int32_t CDATALESS_TICKS_SHIFT = 2;

// The range of all locks that may be about a thread with this id, living or dead.
static inline int64_t cdataless_thread_start(int32_t thread) {
  return (int64_t)((uint64_t)(uint32_t)thread << CDATALESS_THREAD_SHIFT);
}
static const int64_t CDATALESS_THREAD_LENGTH = INT64_C(1) << 40;

// The range of those about the one that started then: a byte for each policy.
static inline int64_t cdataless_thread_place(int32_t thread, uint64_t start_ticks) {
  return cdataless_thread_start(thread) | (int64_t)((start_ticks & CDATALESS_TICKS_MASK) << CDATALESS_TICKS_SHIFT);
}
static const int64_t CDATALESS_PLACE_LENGTH = INT64_C(1) << 2;

#endif
