// Calls that must not need content, and calls that would change something.
#include "probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>

#define SAY(name, call)                                 \
  do {                                                  \
    errno = 0;                                          \
    long result_ = (long)(call);                        \
    printf("%s=%s\n", name, outcome(result_, errno));   \
  } while (0)

// look PATH: every call on a file that needs none of its content.
int command_look(int count, char **arguments) {
  (void)count;
  const char *path = arguments[0];
  struct stat s;
  struct statx x;
  struct statfs f;
  char buffer[65536];
  int flags = 0;
  SAY("lstat", lstat(path, &s));
  SAY("statx", statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC, STATX_ALL, &x));
  SAY("access", access(path, R_OK));
  SAY("listxattr", listxattr(path, buffer, sizeof buffer));
  ssize_t listed = listxattr(path, buffer, sizeof buffer);
  int found = 0;
  for (char *name = buffer; listed > 0 && name < buffer + listed; name += strlen(name) + 1)
    if (!strcmp(name, "user.dataless.state")) found = 1;
  printf("state_listed=%d\n", found);
  ssize_t length = getxattr(path, "user.dataless.state", buffer, sizeof buffer);
  printf("state=");
  if (length < 0)
    printf("%s", outcome(length, errno));
  else
    print_word(buffer, (size_t)length);
  putchar('\n');
  SAY("getxattr_absent", getxattr(path, "user.absent", buffer, sizeof buffer));
  SAY("statfs", statfs(path, &f));
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  printf("open=%s\n", outcome(fd, errno));
  SAY("fstat", fstat(fd, &s));
  printf("blocks=%lld size=%lld\n", (long long)s.st_blocks, (long long)s.st_size);
  SAY("fgetxattr_absent", fgetxattr(fd, "user.absent", buffer, sizeof buffer));
  SAY("lseek_end", lseek(fd, 0, SEEK_END));
  printf("seek_data=%lld seek_hole=%lld\n", (long long)lseek(fd, 0, SEEK_DATA), (long long)lseek(fd, 0, SEEK_HOLE));
  SAY("ioctl", ioctl(fd, FS_IOC_GETFLAGS, &flags));
  SAY("flock", flock(fd, LOCK_SH));
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  SAY("setlk", fcntl(fd, F_SETLK, &lock));
  struct pollfd polled = {.fd = fd, .events = POLLIN};
  SAY("poll", poll(&polled, 1, 0));
  SAY("fsync", fsync(fd));
  SAY("dup", dup(fd));
  void *map = S_ISREG(s.st_mode) && s.st_size > 0 ? mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
  printf("mmap=%s\n", outcome(map == MAP_FAILED ? -1 : 0, errno));
  SAY("close", close(fd));
  int path_fd = open(path, O_PATH | O_CLOEXEC);
  printf("open_path=%s\n", outcome(path_fd, errno));
  return 0;
}

// act OPERATION PATH [NAME]: one operation, its outcome, what it says, and how long it took.
int command_act(int count, char **arguments) {
  const char *operation = arguments[0], *path = arguments[1], *name = count > 2 ? arguments[2] : "";
  char buffer[65536];
  struct stat s = {0};
  long result = -1;
  int fd = -1, with_file = !strcmp(operation, "data") || !strcmp(operation, "hole");
  if (with_file) fd = open(path, O_RDONLY | O_CLOEXEC);
  int64_t start = now_ns();
  errno = 0;
  if (!strcmp(operation, "stat")) result = stat(path, &s);
  if (!strcmp(operation, "path")) result = open(path, O_PATH | O_CLOEXEC);
  if (!strcmp(operation, "open")) result = open(path, O_RDONLY | O_CLOEXEC);
  if (!strcmp(operation, "opendir")) result = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (!strcmp(operation, "getxattr")) result = getxattr(path, name, buffer, sizeof buffer);
  if (!strcmp(operation, "listxattr")) result = listxattr(path, buffer, sizeof buffer);
  if (!strcmp(operation, "data")) result = lseek(fd, atoll(name), SEEK_DATA);
  if (!strcmp(operation, "hole")) result = lseek(fd, atoll(name), SEEK_HOLE);
  int error = errno;
  printf("outcome=%s ns=%lld result=%ld", outcome(result, error), (long long)(now_ns() - start), with_file ? result : 0);
  if (!strcmp(operation, "stat"))
    printf(" blocks=%lld ctime=%lld.%09ld", (long long)s.st_blocks, (long long)s.st_ctim.tv_sec, s.st_ctim.tv_nsec);
  if (result > 0 && strstr(operation, "xattr")) {
    printf(" value=");
    print_word(buffer, (size_t)result);
  }
  putchar('\n');
  return 0;
}

static char below[4096];
static const char *in(const char *directory, const char *name) {
  static char others[4][4096];
  static int next;
  char *place = others[next++ % 4];
  snprintf(place, sizeof others[0], "%s/%s", directory, name);
  return place;
}

// change DIRECTORY: every kind of change, tried on its entries `file`, `other`, `dir` and `link`.
int command_change(int count, char **arguments) {
  (void)count;
  const char *d = arguments[0];
  struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
  snprintf(below, sizeof below, "%s", in(d, "file"));
  SAY("open_write", open(below, O_WRONLY | O_CLOEXEC));
  SAY("open_read_write", open(below, O_RDWR | O_CLOEXEC));
  SAY("open_append", open(below, O_WRONLY | O_APPEND | O_CLOEXEC));
  SAY("open_truncate", open(below, O_WRONLY | O_TRUNC | O_CLOEXEC));
  SAY("open_read_truncate", open(below, O_RDONLY | O_TRUNC | O_CLOEXEC));
  SAY("create", open(in(d, "new"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  SAY("create_exclusive", open(in(d, "new"), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  SAY("temporary", open(d, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  SAY("truncate", truncate(below, 1));
  SAY("chmod", chmod(below, 0600));
  SAY("chown", chown(below, 0, 0));
  SAY("utimens", utimensat(AT_FDCWD, below, times, 0));
  SAY("rename", rename(below, in(d, "renamed")));
  SAY("rename_over", rename(below, in(d, "other")));
  SAY("exchange", renameat2(AT_FDCWD, below, AT_FDCWD, in(d, "other"), RENAME_EXCHANGE));
  SAY("link", link(below, in(d, "linked")));
  SAY("symlink", symlink("target", in(d, "symlinked")));
  SAY("unlink", unlink(below));
  SAY("mkdir", mkdir(in(d, "made"), 0700));
  SAY("rmdir", rmdir(in(d, "dir")));
  SAY("mkfifo", mkfifo(in(d, "fifo"), 0600));
  SAY("setxattr", setxattr(below, "user.new", "1", 1, 0));
  SAY("setxattr_state", setxattr(below, "user.dataless.state", "1", 1, 0));
  SAY("removexattr", removexattr(below, "user.note"));
  SAY("chmod_directory", chmod(in(d, "dir"), 0700));
  SAY("lchown_link", lchown(in(d, "link"), 0, 0));
  return 0;
}
