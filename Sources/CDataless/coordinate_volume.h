#ifndef COORDINATE_VOLUME_H
#define COORDINATE_VOLUME_H

#include <stddef.h>

// The volume on which a path lies, and how its daemon is reached.
struct volume {
  char mountpoint[4096];
  size_t length;
  char socket[4096];
  unsigned owner;
};

// Finds the volume of an absolute path, without asking any file system about what is at or below its mountpoint. Links on
// the way to the mountpoint are followed. *rest is set to what lies below it, without a slash before it.
//
// Returns 0, or an errno: ENODATA if the path lies on no volume, EACCES if it is one of another user, ENOTCONN if nobody
// serves it.
int cdataless_find_volume(const char *path, struct volume *volume, char *rest, size_t rest_size);

// Whether a path lies at or below a volume's mountpoint, as it is written. Returns what is below it, or NULL.
const char *cdataless_below_volume(const struct volume *volume, const char *path);

// A connected socket of the volume's daemon, close-on-exec and non-blocking; or a negative errno: ENOTCONN if nobody serves
// it, EACCES if somebody does who must not, EAGAIN if 4,096 wait to be taken up before it, and still do after 2 s.
int cdataless_connect_volume(const struct volume *volume);

#endif
