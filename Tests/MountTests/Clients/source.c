// A FUSE file system to be the SOURCE of a volume.
//
//   dataless-source cached DIRECTORY MOUNTPOINT   shows DIRECTORY, and lets the kernel keep names and attributes for ever
//   dataless-source liar MOUNTPOINT               says of its files what cannot be
//
// Stays in the foreground, prints "ready" when it is mounted, and ends with its mount.
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *shown;

static void *start(struct fuse_conn_info *connection, struct fuse_config *configuration) {
  (void)connection;
  configuration->use_ino = 1;
  configuration->entry_timeout = 1e9;
  configuration->attr_timeout = 1e9;
  configuration->negative_timeout = 0;
  puts("ready");
  fflush(stdout);
  return NULL;
}

// ---- cached ------------------------------------------------------------------------------------------------------

static const char *place(const char *path, char *buffer) {
  snprintf(buffer, PATH_MAX, "%s%s", shown, path);
  return buffer;
}

static int cached_getattr(const char *path, struct stat *status, struct fuse_file_info *file) {
  (void)file;
  char buffer[PATH_MAX];
  return lstat(place(path, buffer), status) == 0 ? 0 : -errno;
}

static int cached_readlink(const char *path, char *target, size_t size) {
  char buffer[PATH_MAX];
  ssize_t count = readlink(place(path, buffer), target, size - 1);
  if (count < 0) return -errno;
  target[count] = '\0';
  return 0;
}

static int cached_readdir(
    const char *path, void *listing, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *file,
    enum fuse_readdir_flags flags) {
  (void)offset, (void)file, (void)flags;
  char buffer[PATH_MAX];
  DIR *directory = opendir(place(path, buffer));
  if (directory == NULL) return -errno;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) fill(listing, entry->d_name, NULL, 0, 0);
  closedir(directory);
  return 0;
}

static int cached_read(const char *path, char *bytes, size_t size, off_t offset, struct fuse_file_info *file) {
  (void)file;
  char buffer[PATH_MAX];
  int descriptor = open(place(path, buffer), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return -errno;
  ssize_t count = pread(descriptor, bytes, size, offset);
  int result = count < 0 ? -errno : (int)count;
  close(descriptor);
  return result;
}

static const struct fuse_operations cached = {
    .init = start,
    .getattr = cached_getattr,
    .readlink = cached_readlink,
    .readdir = cached_readdir,
    .read = cached_read,
};

// ---- liar --------------------------------------------------------------------------------------------------------

struct lie {
  const char *name;
  mode_t mode;
  int64_t size;
  // What SEEK_DATA and SEEK_HOLE answer, whatever is asked; -1: as if all were data.
  int64_t data, hole;
};

static const struct lie lies[] = {
    {"link", S_IFLNK | 0777, INT64_MAX, -1, -1},  // readlink(2) gives "target"
    {"empty-link", S_IFLNK | 0777, 0, -1, -1},
    {"backwards", S_IFREG | 0644, 100000, 0, 4096},  // data that ends before where it was asked for
    {"standing", S_IFREG | 0644, 100000, 50000, 50000},  // an extent of no bytes
    {"behind", S_IFREG | 0644, 100000, INT64_MAX, INT64_MAX},  // data beyond the end: nothing but a hole
    {"endless", S_IFREG | 0644, INT64_MAX, -1, -1},
};
enum { LIES = sizeof lies / sizeof lies[0] };

static const struct lie *find(const char *path) {
  for (size_t index = 0; index < LIES; index++)
    if (strcmp(path + 1, lies[index].name) == 0) return &lies[index];
  return NULL;
}

static int liar_getattr(const char *path, struct stat *status, struct fuse_file_info *file) {
  (void)file;
  memset(status, 0, sizeof *status);
  status->st_nlink = 1;
  status->st_mtim.tv_sec = status->st_ctim.tv_sec = 1700000000;
  if (strcmp(path, "/") == 0) {
    status->st_ino = 1;
    status->st_mode = S_IFDIR | 0755;
    return 0;
  }
  const struct lie *lie = find(path);
  if (lie == NULL) return -ENOENT;
  status->st_ino = 2 + (ino_t)(lie - lies);
  status->st_mode = lie->mode;
  status->st_size = lie->size;
  // Fewer blocks than bytes: there may be holes, so they are looked for.
  status->st_blocks = 0;
  return 0;
}

static int liar_readlink(const char *path, char *target, size_t size) {
  (void)path;
  snprintf(target, size, "target");
  return 0;
}

static int liar_readdir(
    const char *path, void *listing, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *file,
    enum fuse_readdir_flags flags) {
  (void)path, (void)offset, (void)file, (void)flags;
  fill(listing, ".", NULL, 0, 0);
  fill(listing, "..", NULL, 0, 0);
  for (size_t index = 0; index < LIES; index++) fill(listing, lies[index].name, NULL, 0, 0);
  return 0;
}

static int liar_read(const char *path, char *bytes, size_t size, off_t offset, struct fuse_file_info *file) {
  (void)file;
  const struct lie *lie = find(path);
  if (lie == NULL) return -ENOENT;
  if (offset >= lie->size) return 0;
  if ((int64_t)size > lie->size - offset) size = (size_t)(lie->size - offset);
  memset(bytes, 'x', size);
  return (int)size;
}

static off_t liar_lseek(const char *path, off_t offset, int whence, struct fuse_file_info *file) {
  (void)file;
  const struct lie *lie = find(path);
  if (lie == NULL) return -ENOENT;
  if (whence == SEEK_DATA) return lie->data >= 0 ? lie->data : offset;
  return lie->hole >= 0 ? lie->hole : lie->size;
}

static const struct fuse_operations liar = {
    .init = start,
    .getattr = liar_getattr,
    .readlink = liar_readlink,
    .readdir = liar_readdir,
    .read = liar_read,
    .lseek = liar_lseek,
};

int main(int count, char **arguments) {
  const int is_cached = count == 4 && strcmp(arguments[1], "cached") == 0;
  const int is_liar = count == 3 && strcmp(arguments[1], "liar") == 0;
  if (!is_cached && !is_liar) return 2;
  if (is_cached) shown = arguments[2];
  // Read-only: otherwise each READ makes the kernel ask for the access time at the next stat, and with it for all attributes.
  char *own[] = {arguments[0], "-f", "-o", "ro", arguments[count - 1], NULL};
  return fuse_main(5, own, is_cached ? &cached : &liar, NULL);
}
