#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "cdataless.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/xattr.h>

#define EXPORTED __attribute__((visibility("default")))

// ---- What is to be in no backup ----------------------------------------------------------------------------------

static const char exclude_name[] = "user.com.apple.metadata:com_apple_backup_excludeItem";
static const char exclude_value[] = "com.apple.backupd";
// iOS 5.0.1: one byte, 1.
static const char mobile_name[] = "user.com.apple.MobileBackup";
enum { value_capacity = 256 };

// No such attribute, or a file system without any.
static bool is_absent(int error) { return error == ENODATA || error == ENOTSUP; }

// 1, 0, or -1 with errno.
static int bears_mark(const char *path) {
  char value[value_capacity];
  ssize_t count = getxattr(path, exclude_name, value, sizeof value);
  if (count >= 0 || errno == ERANGE) return 1;
  if (!is_absent(errno)) return -1;
  count = getxattr(path, mobile_name, value, sizeof value);
  if (count > 0) return value[0] != 0 && value[0] != '0';
  if (count == 0) return 0;
  if (errno == ERANGE) return 1;
  return is_absent(errno) ? 0 : -1;
}

static int remove_mark(const char *path, const char *name) {
  return removexattr(path, name) == 0 || is_absent(errno) ? 0 : -1;
}

EXPORTED int dataless_set_backup_excluded(const char *path, int excluded) {
  const int before = errno;
  int result;
  if (path == NULL) {
    errno = EFAULT;
    return -1;
  }
  if (excluded) {
    result = setxattr(path, exclude_name, exclude_value, sizeof exclude_value - 1, 0);
  } else {
    result = remove_mark(path, exclude_name);
    if (result == 0) result = remove_mark(path, mobile_name);
  }
  if (result == 0) errno = before;
  return result;
}

// Looks at the directories above an absolute path, which it cuts, as far as they lie on the same file system.
static int is_marked_above(char *path, dev_t device) {
  struct stat status;
  char *slash;
  int found;
  while ((slash = strrchr(path, '/')) != NULL && slash[1] != 0) {
    slash[slash == path] = 0;
    if (stat(path, &status) != 0) return -1;
    if (status.st_dev != device) return 0;
    found = bears_mark(path);
    if (found != 0) return found;
  }
  return 0;
}

EXPORTED int dataless_get_backup_excluded(const char *path, int *excluded) {
  const int before = errno;
  struct stat status;
  int found;
  char *whole;
  if (path == NULL || excluded == NULL) {
    errno = EFAULT;
    return -1;
  }
  found = bears_mark(path);
  if (found < 0) return -1;
  if (found == 0) {
    whole = realpath(path, NULL);
    if (whole == NULL) return -1;
    found = stat(whole, &status) == 0 ? is_marked_above(whole, status.st_dev) : -1;
    if (found > 0) found = DATALESS_BACKUP_EXCLUDED_ABOVE;
    free(whole);
    if (found < 0) return -1;
  }
  *excluded = found;
  errno = before;
  return 0;
}

// ---- Room --------------------------------------------------------------------------------------------------------

static const char capacity_name[] = "user.dataless.capacity";

// A decimal number, and a space or the end behind it; NULL if there is none.
static const char *number(const char *text, int64_t *value) {
  int64_t sum = 0;
  if (*text < '0' || *text > '9') return NULL;
  for (; *text >= '0' && *text <= '9'; text++) {
    const int64_t digit = *text - '0';
    if (sum > (INT64_MAX - digit) / 10) return NULL;
    sum = sum * 10 + digit;
  }
  if (*text != 0 && *text != ' ') return NULL;
  *value = sum;
  return *text == ' ' ? text + 1 : text;
}

EXPORTED int dataless_get_capacity(const char *path, struct dataless_capacity *capacity) {
  const int before = errno;
  char text[value_capacity];
  struct dataless_capacity found;
  const char *rest = text;
  ssize_t count;
  if (path == NULL || capacity == NULL) {
    errno = EFAULT;
    return -1;
  }
  count = getxattr(path, capacity_name, text, sizeof text - 1);
  if (count < 0) {
    // Somebody else's attribute.
    if (errno == ERANGE || errno == ENOTSUP) errno = ENODATA;
    return -1;
  }
  text[count] = 0;
  rest = number(rest, &found.free_bytes);
  if (rest != NULL) rest = number(rest, &found.important_bytes);
  if (rest != NULL) rest = number(rest, &found.opportunistic_bytes);
  if (rest == NULL) {
    errno = ENODATA;
    return -1;
  }
  *capacity = found;
  errno = before;
  return 0;
}
