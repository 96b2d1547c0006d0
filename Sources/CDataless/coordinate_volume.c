#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "coordinate_volume.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
  links_max = 40,
  // How long a connection waits for its turn.
  wait_seconds = 2
};

// ---- The table of mounts -----------------------------------------------------------------------------------------

// A path of mountinfo, in which blanks are \040 and such, decoded in its place.
static void decode(char *text) {
  char *to = text;
  for (const char *from = text; *from != 0; from++) {
    if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] != 0 && from[3] != 0) {
      *to++ = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
      from += 3;
    } else {
      *to++ = *from;
    }
  }
  *to = 0;
}

struct mount {
  char *point;
  char device[32];
  unsigned owner;
  // A volume, unless it is another file system of FUSE: a volume may be told to look like one.
  bool is_candidate;
  bool is_named_so;
};

struct mounts {
  struct mount *all;
  size_t count;
};

static void free_mounts(struct mounts *mounts) {
  for (size_t index = 0; index < mounts->count; index++) free(mounts->all[index].point);
  free(mounts->all);
}

// One line: id, parent, major:minor, root, mount point, options, optional fields, "-", type, source, super options.
static bool parse(char *line, struct mount *mount) {
  char *fields[6], *rest = line;
  for (int index = 0; index < 6; index++) {
    fields[index] = strsep(&rest, " ");
    if (fields[index] == NULL) return false;
  }
  char *end = rest == NULL ? NULL : strstr(rest, "- ");
  if (end == NULL || strlen(fields[2]) >= sizeof mount->device) return false;
  end += 2;
  char *type = strsep(&end, " ");
  strsep(&end, " ");
  decode(fields[4]);
  strcpy(mount->device, fields[2]);
  mount->is_candidate = type != NULL && strncmp(type, "fuse.", 5) == 0;
  mount->is_named_so = mount->is_candidate && strcmp(type, "fuse.dataless") == 0;
  mount->owner = UINT_MAX;
  const char *user = end == NULL ? NULL : strstr(end, "user_id=");
  if (user != NULL) mount->owner = (unsigned)strtoul(user + 8, NULL, 10);
  mount->point = strdup(fields[4]);
  return mount->point != NULL;
}

static int read_mounts(struct mounts *mounts) {
  *mounts = (struct mounts){NULL, 0};
  // /proc/self is the main thread, which may have ended.
  FILE *file = fopen("/proc/thread-self/mountinfo", "re");
  if (file == NULL && errno == ENOENT) file = fopen("/proc/self/mountinfo", "re");
  if (file == NULL) return errno;
  char *line = NULL;
  size_t size = 0, room = 0;
  ssize_t length;
  int error = 0;
  while (error == 0 && (length = getline(&line, &size, file)) > 0) {
    if (line[length - 1] == '\n') line[length - 1] = 0;
    if (mounts->count == room) {
      room = room == 0 ? 64 : 2 * room;
      struct mount *more = realloc(mounts->all, room * sizeof *more);
      if (more == NULL) {
        error = ENOMEM;
        break;
      }
      mounts->all = more;
    }
    if (parse(line, &mounts->all[mounts->count])) mounts->count++;
  }
  free(line);
  fclose(file);
  if (error != 0) free_mounts(mounts);
  return error;
}

static const char *below(const char *point, size_t length, const char *path) {
  if (strncmp(path, point, length) != 0) return NULL;
  if (path[length] == 0) return path + length;
  if (path[length] != '/') return NULL;
  while (path[length] == '/') length++;
  return path + length;
}

// The mount that covers a path: the longest of its mount points, of several at one place the last.
static const struct mount *covering(const struct mounts *mounts, const char *path) {
  const struct mount *found = NULL;
  size_t longest = 0;
  for (size_t index = 0; index < mounts->count; index++) {
    size_t length = strlen(mounts->all[index].point);
    if (length == 1) length = 0;
    if (length < longest || below(mounts->all[index].point, length, path) == NULL) continue;
    found = &mounts->all[index];
    longest = length;
  }
  return found;
}

const char *cdataless_below_volume(const struct volume *volume, const char *path) {
  return below(volume->mountpoint, volume->length, path);
}

// ---- The way to a mountpoint -------------------------------------------------------------------------------------

// Appends a component. False when it gets too long.
static bool append(char *path, const char *name, size_t length) {
  size_t before = strlen(path);
  if (length == 0 || (length == 1 && name[0] == '.')) return true;
  if (length == 2 && name[0] == '.' && name[1] == '.') {
    while (before > 0 && path[before - 1] != '/') before--;
    path[before > 0 ? before - 1 : 0] = 0;
    return true;
  }
  if (before + length + 2 > PATH_MAX) return false;
  path[before] = '/';
  memcpy(path + before + 1, name, length);
  path[before + 1 + length] = 0;
  return true;
}

// Follows links until the path so far lies on a volume: nothing is asked of that. 0, or an errno.
static int walk(const struct mounts *mounts, const char *path, char *reached, char *rest) {
  char left[PATH_MAX], next[PATH_MAX], target[PATH_MAX];
  int links = 0;
  if (strlen(path) >= sizeof left) return ENAMETOOLONG;
  strcpy(left, path);
  reached[0] = 0;
  const char *from = left;
  for (;;) {
    while (*from == '/') from++;
    const struct mount *mount = covering(mounts, reached[0] == 0 ? "/" : reached);
    if (mount != NULL && mount->is_candidate) {
      strcpy(rest, from);
      return 0;
    }
    if (*from == 0) return ENODATA;
    size_t length = strcspn(from, "/");
    char before[PATH_MAX];
    strcpy(before, reached);
    if (!append(reached, from, length)) return ENAMETOOLONG;
    from += length;
    mount = covering(mounts, reached);
    if (mount != NULL && mount->is_candidate) continue;
    ssize_t count = readlink(reached, target, sizeof target - 1);
    if (count < 0) continue;
    target[count] = 0;
    if (++links > links_max) return ELOOP;
    if (snprintf(next, sizeof next, "%s/%s", target, from) >= (int)sizeof next) return ENAMETOOLONG;
    strcpy(left, next);
    from = left;
    strcpy(reached, target[0] == '/' ? "" : before);
  }
}

// ---- The socket --------------------------------------------------------------------------------------------------

// Sets *is_denied where nobody but others may look.
static bool has_socket(const char *runtime, const char *device, char *socket, bool *is_denied) {
  if (snprintf(socket, 4096, "%s/%s/coordination.sock", runtime, device) >= 4096) return false;
  struct stat status;
  if (lstat(socket, &status) == 0) return S_ISSOCK(status.st_mode);
  if (errno == EACCES) *is_denied = true;
  return false;
}

// Where the daemons of a user have their sockets, best first, as docs/CONTROL-API.md says it.
static int find_socket(const struct mount *mount, struct volume *volume) {
  char runtime[PATH_MAX];
  const char *variable = getenv("XDG_RUNTIME_DIR");
  // What others have mounted is theirs, whether its daemon runs or not.
  bool is_denied = geteuid() != 0 && geteuid() != mount->owner;
  if (mount->owner == 0 && has_socket("/run/dataless", mount->device, volume->socket, &is_denied)) return 0;
  if (mount->owner == geteuid() && variable != NULL && variable[0] == '/' &&
      snprintf(runtime, sizeof runtime, "%s/dataless", variable) < (int)sizeof runtime &&
      has_socket(runtime, mount->device, volume->socket, &is_denied))
    return 0;
  snprintf(runtime, sizeof runtime, "/run/user/%u/dataless", mount->owner);
  if (has_socket(runtime, mount->device, volume->socket, &is_denied)) return 0;
  snprintf(runtime, sizeof runtime, "/tmp/dataless-%u", mount->owner);
  if (has_socket(runtime, mount->device, volume->socket, &is_denied)) return 0;
  if (!mount->is_named_so) return ENODATA;
  return is_denied ? EACCES : ENOTCONN;
}

int cdataless_find_volume(const char *path, struct volume *volume, char *rest, size_t rest_size) {
  struct mounts mounts;
  int error = read_mounts(&mounts);
  if (error != 0) return error;
  char reached[PATH_MAX], left[PATH_MAX];
  error = walk(&mounts, path, reached, left);
  if (error == 0) {
    const struct mount *mount = covering(&mounts, reached[0] == 0 ? "/" : reached);
    volume->owner = mount->owner;
    volume->length = strlen(mount->point);
    if (volume->length >= sizeof volume->mountpoint || strlen(left) >= rest_size) error = ENAMETOOLONG;
    else {
      strcpy(volume->mountpoint, mount->point);
      if (volume->length == 1) volume->length = 0;
      const char *begun = cdataless_below_volume(volume, reached);
      if (snprintf(rest, rest_size, "%s%s%s", begun, *begun != 0 && *left != 0 ? "/" : "", left) >= (int)rest_size)
        error = ENAMETOOLONG;
      else error = find_socket(mount, volume);
    }
  }
  free_mounts(&mounts);
  return error;
}

static int try_to_connect(int descriptor, const struct sockaddr_un *address) {
  return connect(descriptor, (const struct sockaddr *)address, sizeof *address) == 0 ? 0 : errno;
}

// Waits only when more connections than the kernel keeps wait to be taken up: whoever asks for thousands at once is
// faster than the daemon. Not for ever, as a daemon that is stopped takes up none.
static int connect_in_turn(int descriptor, const struct sockaddr_un *address) {
  int error = try_to_connect(descriptor, address);
  if (error != EAGAIN) return error;
  const struct timeval longest = {wait_seconds, 0};
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const time_t until = now.tv_sec + wait_seconds;
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest) != 0 ||
      fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) != 0)
    return errno;
  do {
    error = try_to_connect(descriptor, address);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (error == EINTR && now.tv_sec <= until);
  if (error == 0 && fcntl(descriptor, F_SETFL, flags) != 0) error = errno;
  return error == EINTR ? EAGAIN : error;
}

int cdataless_connect_volume(const struct volume *volume) {
  int descriptor = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -errno;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int directory = -1;
  if (strlen(volume->socket) < sizeof address.sun_path) {
    strcpy(address.sun_path, volume->socket);
  } else {
    char name[4096];
    strcpy(name, volume->socket);
    *strrchr(name, '/') = 0;
    directory = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/thread-self/fd/%d/coordination.sock", directory);
  }
  int error = connect_in_turn(descriptor, &address);
  if (directory >= 0) close(directory);
  struct ucred peer;
  socklen_t size = sizeof peer;
  // Nothing is said to anybody but the one who mounted it, and root.
  if (error == 0 && getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) error = errno;
  if (error == 0 && peer.uid != 0 && peer.uid != volume->owner) error = EACCES;
  if (error == ENOENT || error == ECONNREFUSED || error == ENOTDIR) error = ENOTCONN;
  if (error == 0) return descriptor;
  close(descriptor);
  return -error;
}
