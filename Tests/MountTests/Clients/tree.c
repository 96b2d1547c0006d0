// What a tree looks like: all metadata of all entries, as text that can be compared.
#include "probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

static int with_content, without_times;

static int by_bytes(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void print_extended_attributes(const char *path) {
  static char names[65536], value[65536];
  ssize_t size = llistxattr(path, names, sizeof names);
  if (size < 0) {
    printf(" xattrs=%s", errno == ENOTSUP ? "none" : outcome(size, errno));
    return;
  }
  if (size == 0) {
    printf(" xattrs=none");
    return;
  }
  const char *sorted[4096];
  size_t count = 0;
  for (char *name = names; name < names + size && count < 4096; name += strlen(name) + 1) sorted[count++] = name;
  qsort(sorted, count, sizeof *sorted, by_bytes);
  for (size_t i = 0; i < count; i++) {
    ssize_t length = lgetxattr(path, sorted[i], value, sizeof value);
    printf(" x:");
    print_word(sorted[i], strlen(sorted[i]));
    putchar('=');
    if (length < 0)
      printf("%s", outcome(length, errno));
    else
      print_word(value, (size_t)length);
  }
}

static void print_time(const char *name, struct timespec time) {
  printf(" %s=%lld.%09ld", name, (long long)time.tv_sec, time.tv_nsec);
}

static void print_entry(const char *path, const char *shown) {
  struct stat s;
  printf("path=");
  print_word(shown, strlen(shown));
  if (lstat(path, &s) < 0) {
    printf(" outcome=%s\n", outcome(-1, errno));
    return;
  }
  printf(" mode=%o inode=%llu links=%llu uid=%u gid=%u", s.st_mode, (unsigned long long)s.st_ino,
         (unsigned long long)s.st_nlink, s.st_uid, s.st_gid);
  printf(" size=%lld", (long long)s.st_size);
  if (S_ISCHR(s.st_mode) || S_ISBLK(s.st_mode)) printf(" device=%u:%u", major(s.st_rdev), minor(s.st_rdev));
  if (!without_times) {
    print_time("atime", s.st_atim);
    print_time("mtime", s.st_mtim);
    print_time("ctime", s.st_ctim);
  }
  if (S_ISLNK(s.st_mode)) {
    char target[4097];
    ssize_t length = readlink(path, target, sizeof target);
    printf(" target=");
    print_word(target, length < 0 ? 0 : (size_t)length);
  }
  print_extended_attributes(path);
  if (with_content && S_ISREG(s.st_mode)) {
    static char buffer[1 << 16];
    uint64_t hash = HASH_START;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOATIME);
    if (fd < 0) fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : 0;
    while (fd >= 0 && (got = read(fd, buffer, sizeof buffer)) > 0) hash = hash_more(hash, buffer, (size_t)got);
    if (got < 0)
      printf(" content=%s", outcome(got, errno));
    else
      printf(" content=%016llx", (unsigned long long)hash);
    if (fd >= 0) close(fd);
  }
  putchar('\n');
}

static void walk(const char *path, const char *shown) {
  print_entry(path, shown);
  // O_NOATIME: a look at the source must not be what makes source and volume differ.
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NOATIME);
  if (fd < 0 && errno == EPERM) fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    if (errno != ENOTDIR && errno != ELOOP) printf("unlistable=%s outcome=%s\n", shown, outcome(-1, errno));
    return;
  }
  DIR *directory = fdopendir(fd);
  char **names = NULL;
  size_t count = 0, room = 0;
  errno = 0;
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    if (count == room) names = realloc(names, (room = room ? room * 2 : 64) * sizeof *names);
    names[count++] = strdup(entry->d_name);
  }
  if (errno) printf("unlistable=%s outcome=%s\n", shown, outcome(-1, errno));
  closedir(directory);
  if (count) qsort(names, count, sizeof *names, by_bytes);
  for (size_t i = 0; i < count; i++) {
    char *below, *shown_below;
    if (asprintf(&below, "%s/%s", path, names[i]) < 0 || asprintf(&shown_below, "%s/%s", shown, names[i]) < 0) exit(1);
    struct stat s;
    if (lstat(below, &s) == 0 && S_ISDIR(s.st_mode))
      walk(below, shown_below);
    else
      print_entry(below, shown_below);
    free(below);
    free(shown_below);
    free(names[i]);
  }
  free(names);
}

// dump DIRECTORY [content] [notimes]: one line for each entry, sorted by the bytes of its name.
int command_dump(int count, char **arguments) {
  for (int i = 1; i < count; i++) {
    if (!strcmp(arguments[i], "content")) with_content = 1;
    if (!strcmp(arguments[i], "notimes")) without_times = 1;
  }
  walk(arguments[0], ".");
  return 0;
}
