// The library of bare.c: built with frame pointers, as distributions build theirs.
#include <unistd.h>

long load_bytes(int file, char *bytes, long count) {
  long got = read(file, bytes, count);
  return got + 1;
}
