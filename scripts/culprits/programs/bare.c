// Built without frame pointers: in load_thumbnail rbp is a number like others, which the library's function saves.
#include <fcntl.h>

long load_bytes(int file, char *bytes, long count);

__attribute__((noinline)) static long load_thumbnail(const char *path, int k) {
  char bytes[64];
  int file = open(path, O_RDONLY);
  long a = k * 3, b = k * 5, c = k * 7, d = k * 11, e = k * 13, sum = 0;
  for (int i = 1; i < 3; i++) {
    sum += load_bytes(file, bytes, 10) + a + b + c + d + e;  // culprit
    a ^= b;
    b += c;
    c ^= d;
    d += e;
    e ^= a;
  }
  return sum;
}

__attribute__((noinline)) static long draw(const char *path) { return load_thumbnail(path, path[0]) + 1; }

int main(int count, char **words) { return count < 2 || draw(words[1]) == 0; }
