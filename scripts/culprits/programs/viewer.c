#include <fcntl.h>
#include <unistd.h>

__attribute__((noinline)) static long load_thumbnail(const char *path) {
  char byte = 0;
  int file = open(path, O_RDONLY);
  long count = read(file, &byte, 1);  // culprit
  return count + byte;
}

__attribute__((noinline)) static long draw(const char *path) { return load_thumbnail(path) + 1; }

int main(int count, char **words) { return count < 2 || draw(words[1]) < 0; }
