#ifndef MATERIALIZE_RESULT_H
#define MATERIALIZE_RESULT_H

#include <stdint.h>

// What the threads of a job (materialize.c) send over the pair of sockets when it is over, and who asks for the result
// (materialize_result.c) reads: this, and an errno for each path. Both ends are of one process, or of its children.
struct materialize_result {
  uint32_t magic;
  uint32_t count;
  int32_t errors[];
};

enum { MATERIALIZE_RESULT_MAGIC = 0x646c6d31 };

#endif
