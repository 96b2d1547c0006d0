// Metadata: modes, owners, times, extended attributes, access control lists; and locks.
#include "writing.h"

#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>

void check_attributes(void) {
  check("modes");
  put("file", "x");
  HOLDS(chmod("file", 0640) == 0 && (status("file").st_mode & 07777) == 0640);
  int fd = open("file", O_RDWR);
  HOLDS(fchmod(fd, 07777) == 0 && (status("file").st_mode & 07777) == 07777 && close(fd) == 0);
  HOLDS(mkdir("d", 0755) == 0 && chmod("d", 03770) == 0 && (status("d").st_mode & 07777) == 03770);
  check("masks");
  mode_t old = umask(027);
  HOLDS(mkdir("masked", 0777) == 0 && (status("masked").st_mode & 07777) == 0750);
  fd = open("masked/file", O_CREAT | O_WRONLY, 0666);
  HOLDS(fd >= 0 && (status("masked/file").st_mode & 07777) == 0640 && close(fd) == 0);
  HOLDS(mkfifo("masked/fifo", 0666) == 0 && (status("masked/fifo").st_mode & 07777) == 0640);
  umask(old);
  // A file may be made without the rights to open it.
  fd = open("unreadable", O_CREAT | O_RDWR, 0);
  HOLDS(fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0);
  check("owners");
  if (geteuid() == 0) {
    HOLDS(chmod("file", 06755) == 0 && chown("file", 1000, 1001) == 0);
    HOLDS(status("file").st_uid == 1000 && status("file").st_gid == 1001);
    HOLDS((status("file").st_mode & 07777) == 0755);  // set-id bits go with the owner
    HOLDS(chown("file", (uid_t)-1, 1002) == 0 && status("file").st_uid == 1000 && status("file").st_gid == 1002);
    HOLDS(symlink("file", "link") == 0 && lchown("link", 5, 6) == 0 && status("link").st_uid == 5);
    HOLDS(status("file").st_uid == 1000);
    check("groups_of_directories");
    HOLDS(mkdir("group", 0755) == 0 && chown("group", 0, 77) == 0 && chmod("group", 02775) == 0);
    put("group/file", "x");
    HOLDS(status("group/file").st_gid == 77 && mkdir("group/in", 0755) == 0 && status("group/in").st_gid == 77);
    HOLDS((status("group/in").st_mode & 07777) == 02755);
  } else {
    FAILS(EPERM, chown("file", 0, 0));
    HOLDS(status("file").st_uid == geteuid());
  }
  check("statistics");
  struct statvfs all;
  HOLDS(statvfs(".", &all) == 0 && all.f_namemax == 255 && all.f_blocks > 0 && all.f_bavail > 0);
}

static int after(struct timespec a, struct timespec b) {
  return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

static int same(struct timespec a, struct timespec b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

// Sets both times of a file far back, so that whatever moves shows; ctime cannot be set, so it is waited out.
static struct stat aged(const char *name) {
  struct timespec old[2] = {{1000, 1}, {2000, 2}};
  HOLDS(utimensat(AT_FDCWD, name, old, AT_SYMLINK_NOFOLLOW) == 0);
  struct stat before = status(name);
  struct timespec now;
  do clock_gettime(CLOCK_REALTIME_COARSE, &now);
  while (!after(now, before.st_ctim));
  return before;
}

void check_times(void) {
  struct stat old, new, parent;
  check("set_times");
  put("file", "x");
  struct timespec times[2] = {{1, 5}, {2, 6}};
  HOLDS(utimensat(AT_FDCWD, "file", times, 0) == 0 && status("file").st_atim.tv_sec == 1);
  HOLDS(status("file").st_mtim.tv_sec == 2 && status("file").st_mtim.tv_nsec == 6);
  times[0].tv_nsec = UTIME_OMIT;
  times[1].tv_nsec = UTIME_NOW;
  HOLDS(utimensat(AT_FDCWD, "file", times, 0) == 0 && status("file").st_atim.tv_sec == 1);
  HOLDS(status("file").st_mtim.tv_sec > 1600000000);
  check("times_of_writes");
  old = aged("file");
  int fd = open("file", O_RDWR);
  HOLDS(write(fd, "more", 4) == 4);
  new = status("file");
  HOLDS(after(new.st_mtim, old.st_mtim) && after(new.st_ctim, old.st_ctim) && same(new.st_atim, old.st_atim));
  old = aged("file");
  HOLDS(ftruncate(fd, 2) == 0);
  new = status("file");
  HOLDS(after(new.st_mtim, old.st_mtim) && after(new.st_ctim, old.st_ctim));
  close(fd);
  check("times_of_metadata");
  old = aged("file");
  HOLDS(chmod("file", 0600) == 0);
  new = status("file");
  HOLDS(same(new.st_mtim, old.st_mtim) && after(new.st_ctim, old.st_ctim));
  old = aged("file");
  HOLDS(link("file", "second") == 0);
  new = status("file");
  HOLDS(same(new.st_mtim, old.st_mtim) && after(new.st_ctim, old.st_ctim));
  old = aged("file");
  HOLDS(unlink("second") == 0);
  HOLDS(after(status("file").st_ctim, old.st_ctim));
  old = aged("file");
  HOLDS(rename("file", "moved") == 0);
  HOLDS(after(status("moved").st_ctim, old.st_ctim) && same(status("moved").st_mtim, old.st_mtim));
  check("times_of_directories");
  HOLDS(mkdir("d", 0755) == 0 && mkdir("e", 0755) == 0);
  parent = aged("d");
  put("d/file", "x");
  HOLDS(after(status("d").st_mtim, parent.st_mtim) && after(status("d").st_ctim, parent.st_ctim));
  parent = aged("d");
  old = aged("e");
  HOLDS(rename("d/file", "e/file") == 0);
  HOLDS(after(status("d").st_mtim, parent.st_mtim) && after(status("e").st_mtim, old.st_mtim));
  parent = aged("e");
  HOLDS(unlink("e/file") == 0 && after(status("e").st_mtim, parent.st_mtim));
  parent = aged("d");
  HOLDS(mkdir("d/in", 0755) == 0 && after(status("d").st_mtim, parent.st_mtim));
  parent = aged("d");
  HOLDS(rmdir("d/in") == 0 && after(status("d").st_mtim, parent.st_mtim));
}

void check_extended(void) {
  static char large[65537], buffer[65537], names[4096];
  check("extended_attributes");
  put("file", "x");
  HOLDS(setxattr("file", "user.a", "one", 3, 0) == 0 && getxattr("file", "user.a", buffer, 64) == 3);
  FAILS(EEXIST, setxattr("file", "user.a", "x", 1, XATTR_CREATE));
  FAILS(ENODATA, setxattr("file", "user.b", "x", 1, XATTR_REPLACE));
  HOLDS(setxattr("file", "user.a", "", 0, XATTR_REPLACE) == 0 && getxattr("file", "user.a", NULL, 0) == 0);
  HOLDS(setxattr("file", "user.b", "two", 3, XATTR_CREATE) == 0);
  FAILS(ERANGE, getxattr("file", "user.b", buffer, 2));
  ssize_t size = listxattr("file", names, sizeof names);
  HOLDS(size > 0 && memmem(names, (size_t)size, "user.a", 7) && memmem(names, (size_t)size, "user.b", 7));
  HOLDS(removexattr("file", "user.a") == 0);
  FAILS(ENODATA, getxattr("file", "user.a", buffer, 64));
  FAILS(ENODATA, removexattr("file", "user.a"));
  check("sizes_of_extended_attributes");
  memset(large, 'v', sizeof large);
  HOLDS(setxattr("file", "user.large", large, 2000, 0) == 0 && getxattr("file", "user.large", buffer, 2000) == 2000);
  HOLDS(!memcmp(large, buffer, 2000));
  FAILS(E2BIG, setxattr("file", "user.large", large, 65537, 0));
  char name[260] = "user.";
  memset(name + 5, 'n', 251);
  FAILS(ERANGE, setxattr("file", name, "x", 1, 0));
  name[255] = 0;
  HOLDS(setxattr("file", name, "x", 1, 0) == 0 && getxattr("file", name, buffer, 64) == 1);
  check("kinds_of_extended_attributes");
  HOLDS(symlink("file", "link") == 0);
  FAILS(EPERM, lsetxattr("link", "user.a", "x", 1, 0));
  FAILS(EOPNOTSUPP, setxattr("file", "unknown.a", "x", 1, 0));
  if (geteuid() == 0) {
    HOLDS(setxattr("file", "trusted.a", "x", 1, 0) == 0 && getxattr("file", "trusted.a", buffer, 64) == 1);
  } else {
    FAILS(EPERM, setxattr("file", "trusted.a", "x", 1, 0));
  }
  HOLDS(rename("file", "moved") == 0 && getxattr("moved", "user.b", buffer, 64) == 3);
}

// Version 2, entries of {tag, permissions, id}.
#define ENTRY(tag, bits, id) tag, 0, bits, 0, (id) & 0xff, ((id) >> 8) & 0xff, ((id) >> 16) & 0xff, ((id) >> 24) & 0xff
#define NOBODY 0xffffffffu
static const unsigned char list[] = {2, 0, 0, 0, ENTRY(1, 7, NOBODY), ENTRY(2, 7, 1234u), ENTRY(4, 5, NOBODY),
                                     ENTRY(16, 7, NOBODY), ENTRY(32, 0, NOBODY)};

void check_lists(void) {
  char buffer[256];
  check("access_lists");
  put("file", "x");
  HOLDS(setxattr("file", "system.posix_acl_access", list, sizeof list, 0) == 0);
  HOLDS(getxattr("file", "system.posix_acl_access", buffer, sizeof buffer) == sizeof list);
  HOLDS((status("file").st_mode & 0777) == 0770);  // the mask shows as the group's
  HOLDS(chmod("file", 0740) == 0);
  HOLDS(getxattr("file", "system.posix_acl_access", buffer, sizeof buffer) == sizeof list && buffer[4 + 3 * 8 + 2] == 4);
  HOLDS(removexattr("file", "system.posix_acl_access") == 0);
  FAILS(ENODATA, getxattr("file", "system.posix_acl_access", buffer, sizeof buffer));
  check("default_lists");
  HOLDS(mkdir("d", 0755) == 0 && setxattr("d", "system.posix_acl_default", list, sizeof list, 0) == 0);
  HOLDS((status("d").st_mode & 0777) == 0755);
  umask(077);  // counts for nothing where a default list is
  int fd = open("d/file", O_CREAT | O_WRONLY, 0666);
  HOLDS(fd >= 0 && close(fd) == 0 && (status("d/file").st_mode & 0777) == 0660);
  HOLDS(getxattr("d/file", "system.posix_acl_access", buffer, sizeof buffer) == sizeof list);
  HOLDS(mkdir("d/in", 0777) == 0 && (status("d/in").st_mode & 0777) == 0770);
  HOLDS(getxattr("d/in", "system.posix_acl_default", buffer, sizeof buffer) == sizeof list);
  umask(022);
  FAILS(EACCES, setxattr("file", "system.posix_acl_default", list, sizeof list, 0));
  FAILS(EINVAL, setxattr("file", "system.posix_acl_access", "\2\0\0\0bad", 7, 0));
}

// Whether another process gets a lock on the file's first byte at once.
static int other_locks(int command, int is_flock) {
  pid_t child = fork();
  if (child == 0) {
    int fd = open("file", O_RDWR);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    int failure = is_flock ? flock(fd, LOCK_EX | LOCK_NB) : fcntl(fd, command, &lock);
    _exit(failure == 0 ? 0 : 1);
  }
  int result = 1;
  waitpid(child, &result, 0);
  return child > 0 && result == 0;
}

void check_locks(void) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
  check("record_locks");
  put("file", "x");
  int fd = open("file", O_RDWR);
  HOLDS(fcntl(fd, F_SETLK, &lock) == 0 && !other_locks(F_SETLK, 0));
  lock.l_type = F_UNLCK;
  HOLDS(fcntl(fd, F_SETLK, &lock) == 0 && other_locks(F_SETLK, 0));
  check("locks_of_descriptions");
  lock.l_type = F_WRLCK;
  HOLDS(fcntl(fd, F_OFD_SETLK, &lock) == 0 && !other_locks(F_OFD_SETLK, 0));
  lock.l_type = F_UNLCK;
  HOLDS(fcntl(fd, F_OFD_SETLK, &lock) == 0 && other_locks(F_OFD_SETLK, 0));
  check("flock");
  HOLDS(flock(fd, LOCK_EX) == 0 && !other_locks(0, 1) && flock(fd, LOCK_UN) == 0 && other_locks(0, 1));
  HOLDS(close(fd) == 0);
}
