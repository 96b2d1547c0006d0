// A file system with one file, `image`, that writes down each WRITE and FSYNC it is asked for, in their order. With a
// loop device over the image this is a disk whose power can be cut anywhere afterwards.
//
//   logdisk IMAGE LOG MOUNTPOINT        in the foreground, until it is unmounted
//
// What is written to its second file, `mark`, becomes a record too: how a program says what it has been promised so
// far. A record of LOG is 16 bytes, little-endian: kind (u32: 1 write, 2 fsync, 3 mark), length (u32), offset (u64);
// and then length bytes. One thread answers all requests, so that the log's order is that in which they were
// answered.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { WRITTEN = 1, SYNCED = 2, MARKED = 3 };

struct record {
  uint32_t kind, length;
  uint64_t offset;
};

static int image = -1, record_file = -1;

static int append(enum kind kind, const char *data, size_t length, off_t offset) {
  struct record head = {.kind = kind, .length = (uint32_t)length, .offset = (uint64_t)offset};
  struct iovec parts[] = {{&head, sizeof head}, {(void *)data, length}};
  ssize_t whole = (ssize_t)(sizeof head + length);
  return writev(record_file, parts, length ? 2 : 1) == whole ? 0 : -EIO;
}

static int is_image(const char *path) { return strcmp(path, "/image") == 0; }
static int is_mark(const char *path) { return strcmp(path, "/mark") == 0; }

static int get_attributes(const char *path, struct stat *state, struct fuse_file_info *info) {
  (void)info;
  memset(state, 0, sizeof *state);
  if (strcmp(path, "/") == 0) {
    state->st_mode = S_IFDIR | 0755;
    state->st_nlink = 2;
    return 0;
  }
  if (is_image(path)) {
    if (fstat(image, state) != 0) return -errno;
    return 0;
  }
  if (!is_mark(path)) return -ENOENT;
  state->st_mode = S_IFREG | 0622;
  state->st_nlink = 1;
  return 0;
}

static int list(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *info,
                enum fuse_readdir_flags flags) {
  (void)path, (void)offset, (void)info, (void)flags;
  const char *names[] = {".", "..", "image", "mark"};
  for (size_t each = 0; each < 4; each++) fill(buffer, names[each], NULL, 0, (enum fuse_fill_dir_flags)0);
  return 0;
}

static int open_file(const char *path, struct fuse_file_info *info) {
  if (!is_image(path) && !is_mark(path)) return -ENOENT;
  // Each write arrives by itself, when it is made.
  info->direct_io = 1;
  return 0;
}

static int read_file(const char *path, char *buffer, size_t size, off_t offset, struct fuse_file_info *info) {
  (void)info;
  if (!is_image(path)) return 0;
  ssize_t count = pread(image, buffer, size, offset);
  return count < 0 ? -errno : (int)count;
}

static int write_file(const char *path, const char *data, size_t size, off_t offset, struct fuse_file_info *info) {
  (void)info;
  if (is_image(path) && pwrite(image, data, size, offset) != (ssize_t)size) return -EIO;
  int error = append(is_image(path) ? WRITTEN : MARKED, data, size, is_image(path) ? offset : 0);
  return error ? error : (int)size;
}

static int sync_file(const char *path, int only_data, struct fuse_file_info *info) {
  (void)only_data, (void)info;
  return is_image(path) ? append(SYNCED, NULL, 0, 0) : 0;
}

static int truncate_file(const char *path, off_t size, struct fuse_file_info *info) {
  (void)size, (void)info;
  return is_mark(path) ? 0 : -EPERM;
}

static void *started(struct fuse_conn_info *connection, struct fuse_config *config) {
  (void)connection;
  config->attr_timeout = config->entry_timeout = 3600;
  return NULL;
}

int main(int argc, char **argv) {
  static const struct fuse_operations operations = {
      .init = started, .getattr = get_attributes, .readdir = list, .open = open_file, .read = read_file,
      .write = write_file, .fsync = sync_file, .truncate = truncate_file};
  if (argc != 4) {
    fputs("usage: logdisk IMAGE LOG MOUNTPOINT\n", stderr);
    return 2;
  }
  image = open(argv[1], O_RDWR | O_CLOEXEC);
  record_file = open(argv[2], O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (image < 0 || record_file < 0) {
    perror(image < 0 ? argv[1] : argv[2]);
    return 2;
  }
  char *words[] = {argv[0], "-f", "-s", "-o", "fsname=logdisk,allow_other", argv[3], NULL};
  return fuse_main(6, words, &operations, NULL);
}
