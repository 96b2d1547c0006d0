// For public-suite: what its program makes as root is an item that was there before. A file or directory that is made
// is replaced at once by one of $FOUND (f00000 and on; d00000 and on), with the mode, owner, group and times that it
// would have; $FOUND_NEXT counts. So the checks, which make all that they work on, work on what is dataless, resident
// or dirty. Preloaded; other programs are left as they are.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_wanted(void) {
  return getenv("FOUND") && getenv("FOUND_NEXT") && geteuid() == 0 && getegid() == 0;
}

static unsigned next_number(void) {
  unsigned number = 0;
  int descriptor = open(getenv("FOUND_NEXT"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0 || flock(descriptor, LOCK_EX) != 0) return 0;
  if (pread(descriptor, &number, sizeof number, 0) < 0) number = 0;
  unsigned next = number + 1;
  if (pwrite(descriptor, &next, sizeof next, 0) < 0) number = 0;
  close(descriptor);
  return number;
}

// 0, or -1 with errno. An empty store of items is told, and leaves what was made.
static int replace(const char *path, char kind) {
  struct stat made;
  char name[4200];
  if (!is_wanted()) return 0;
  snprintf(name, sizeof name, "%s/%c%05u", getenv("FOUND"), kind, next_number());
  if (lstat(path, &made) != 0) return -1;
  if (rename(name, path) != 0) {
    perror(name);
    return 0;
  }
  if (lchown(path, made.st_uid, made.st_gid) != 0 || chmod(path, made.st_mode & 07777) != 0) return -1;
  return utimensat(AT_FDCWD, path, NULL, 0);
}

// Only where the file is made for sure: with O_EXCL. The program closes it then, and looks at nothing before.
int open(const char *path, int flags, ...) {
  static int (*next)(const char *, int, ...);
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (!next) next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  int descriptor = next(path, flags, mode);
  if (descriptor < 0 || (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL)) return descriptor;
  if (replace(path, 'f') == 0) return descriptor;
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

int mkdir(const char *path, mode_t mode) {
  static int (*next)(const char *, mode_t);
  if (!next) next = (int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir");
  return next(path, mode) == 0 ? replace(path, 'd') : -1;
}
