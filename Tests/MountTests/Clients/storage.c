// What libcdataless says of backups and room: exclude, include, get or capacity of a path.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cdataless.h"

static int say(int result) {
  if (result == 0) printf("ok\n");
  else printf("%s\n", errno == ENODATA ? "ENODATA" : strerror(errno));
  return result == 0 ? 0 : 1;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  const char *path = arguments[2];
  if (strcmp(arguments[1], "exclude") == 0) return say(dataless_set_backup_excluded(path, 1));
  if (strcmp(arguments[1], "include") == 0) return say(dataless_set_backup_excluded(path, 0));
  if (strcmp(arguments[1], "get") == 0) {
    int excluded = -1;
    if (dataless_get_backup_excluded(path, &excluded) != 0) return say(-1);
    printf("%d\n", excluded);
    return 0;
  }
  struct dataless_capacity capacity;
  if (dataless_get_capacity(path, &capacity) != 0) return say(-1);
  printf("%" PRId64 " %" PRId64 " %" PRId64 "\n", capacity.free_bytes, capacity.important_bytes,
         capacity.opportunistic_bytes);
  return 0;
}
