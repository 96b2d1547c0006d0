// Content: written, cut, mapped, and living on without a name.
#include "writing.h"

#include <sys/mman.h>

static int open_new(const char *name, int flags) { return open(name, O_RDWR | O_CREAT | flags, 0644); }

void check_data(void) {
  char buffer[64];
  check("writes");
  int fd = open_new("file", 0);
  HOLDS(pwrite(fd, "world", 5, 6) == 5 && pwrite(fd, "hello ", 6, 0) == 6);
  HOLDS(pread(fd, buffer, sizeof buffer, 0) == 11 && !memcmp(buffer, "hello world", 11));
  HOLDS(status("file").st_size == 11 && lseek(fd, 0, SEEK_END) == 11);
  HOLDS(pwrite(fd, "!", 1, 1 << 20) == 1 && status("file").st_size == (1 << 20) + 1);
  HOLDS(pread(fd, buffer, 4, 5000) == 4 && !memcmp(buffer, "\0\0\0\0", 4));
  check("truncates");
  HOLDS(ftruncate(fd, 5) == 0 && has("file", "hello") && truncate("file", 7) == 0);
  HOLDS(pread(fd, buffer, sizeof buffer, 0) == 7 && !memcmp(buffer, "hello\0\0", 7));
  HOLDS(ftruncate(fd, 7) == 0 && ftruncate(fd, 1 << 20) == 0 && status("file").st_size == 1 << 20);
  HOLDS(pread(fd, buffer, 8, (1 << 20) - 8) == 8 && !memcmp(buffer, "\0\0\0\0\0\0\0\0", 8));
  FAILS(EINVAL, ftruncate(fd, -1));
  int reader = open("file", O_RDONLY);
  FAILS(EINVAL, ftruncate(reader, 0));
  FAILS(EBADF, write(reader, "x", 1));
  close(reader);
  int emptied = open("file", O_WRONLY | O_TRUNC);
  HOLDS(emptied >= 0 && status("file").st_size == 0 && close(emptied) == 0);
  emptied = open("file", O_RDONLY);
  HOLDS(pwrite(fd, "again", 5, 0) == 5 && read(emptied, buffer, 64) == 5 && close(emptied) == 0 && close(fd) == 0);
  check("appends");
  int one = open_new("log", O_APPEND), two = open_new("log", O_APPEND);
  for (int i = 0; i < 50; i++) HOLDS(write(one, "aaaa", 4) == 4 && write(two, "bbbb", 4) == 4);
  HOLDS(status("log").st_size == 400 && pread(one, buffer, 8, 392) == 8 && !memcmp(buffer, "aaaabbbb", 8));
  close(one);
  close(two);
  check("synchronous_writes");
  fd = open_new("sync", O_SYNC);
  HOLDS(write(fd, "sync", 4) == 4 && fsync(fd) == 0 && fdatasync(fd) == 0 && close(fd) == 0 && has("sync", "sync"));
  fd = open(".", O_RDONLY | O_DIRECTORY);
  HOLDS(fsync(fd) == 0 && close(fd) == 0);
  check("direct_writes");
  char *page = aligned_alloc(4096, 8192);
  memset(page, 'd', 8192);
  fd = open_new("direct", O_DIRECT);
  int cached = open("direct", O_RDWR);
  HOLDS(fd >= 0 && pwrite(fd, page, 8192, 0) == 8192);
  HOLDS(pread(cached, buffer, 4, 4096) == 4 && !memcmp(buffer, "dddd", 4));
  HOLDS(pwrite(cached, "cccc", 4, 4096) == 4 && pread(fd, page, 4096, 4096) == 4096 && !memcmp(page, "ccccd", 5));
  close(fd);
  close(cached);
  check("copies");
  put("source", "0123456789");
  int from = open("source", O_RDONLY), to = open_new("copy", 0);
  off_t start = 2, place = 3;
  HOLDS(copy_file_range(from, &start, to, &place, 5, 0) == 5 && start == 7 && place == 8);
  HOLDS(pread(to, buffer, 64, 0) == 8 && !memcmp(buffer, "\0\0\00023456", 8));
  close(from);
  close(to);
  check("large_writes");
  size_t size = 3 << 20;
  char *large = malloc(size), *again = malloc(size);
  for (size_t i = 0; i < size; i++) large[i] = (char)(i * 2654435761u >> 24);
  fd = open_new("large", 0);
  HOLDS(pwrite(fd, large, size, 12345) == (ssize_t)size && pread(fd, again, size, 12345) == (ssize_t)size);
  HOLDS(!memcmp(large, again, size));
  close(fd);
  free(large);
  free(again);
  free(page);
}

void check_space(void) {
  char buffer[64];
  check("allocates");
  int fd = open_new("file", 0);
  HOLDS(fallocate(fd, 0, 0, 10000) == 0 && status("file").st_size == 10000);
  HOLDS(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 100000) == 0 && status("file").st_size == 10000);
  HOLDS(status("file").st_blocks * 512 >= 10000);
  check("punches");
  memset(buffer, 'p', sizeof buffer);
  for (int i = 0; i < 300; i++) HOLDS(pwrite(fd, buffer, 64, i * 64) == 64);
  HOLDS(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 4096) == 0);
  HOLDS(pread(fd, buffer, 4, 4096) == 4 && !memcmp(buffer, "\0\0\0\0", 4) && status("file").st_size == 19200);
  HOLDS(pread(fd, buffer, 4, 4092) == 4 && !memcmp(buffer, "pppp", 4));
  HOLDS(fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, 100) == 0 && pread(fd, buffer, 1, 99) == 1 && buffer[0] == 0);
  FAILS(EOPNOTSUPP, fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, 4096));
  FAILS(EINVAL, fallocate(fd, 0, 0, 0));
  HOLDS(lseek(fd, 0, SEEK_HOLE) >= 0 && lseek(fd, 8192, SEEK_DATA) == 8192);
  FAILS(ENXIO, lseek(fd, 19200, SEEK_DATA));
  close(fd);
}

void check_maps(void) {
  char buffer[8];
  check("shared_maps");
  int fd = open_new("file", 0);
  HOLDS(ftruncate(fd, 8192) == 0);
  char *one = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  char *two = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
  HOLDS(one != MAP_FAILED && two != MAP_FAILED);
  if (one == MAP_FAILED || two == MAP_FAILED) return;
  memcpy(one + 4096, "mapped", 6);
  HOLDS(!memcmp(two + 4096, "mapped", 6) && pread(fd, buffer, 6, 4096) == 6 && !memcmp(buffer, "mapped", 6));
  HOLDS(pwrite(fd, "written", 7, 0) == 7 && !memcmp(two, "written", 7) && msync(one, 8192, MS_SYNC) == 0);
  check("stores_after_close");
  HOLDS(close(fd) == 0);
  memcpy(one, "stored!", 7);
  munmap(two, 8192);
  HOLDS(munmap(one, 8192) == 0);
  fd = open("file", O_RDONLY);
  HOLDS(pread(fd, buffer, 7, 0) == 7 && !memcmp(buffer, "stored!", 7) && close(fd) == 0);
  HOLDS(status("file").st_size == 8192);
}

void check_lifetime(void) {
  char buffer[64], path[64];
  struct stat s;
  check("open_without_a_name");
  put("file", "text");
  int fd = open("file", O_RDWR);
  HOLDS(unlink("file") == 0 && fstat(fd, &s) == 0 && s.st_nlink == 0 && s.st_size == 4);
  HOLDS(pwrite(fd, "!", 1, 4) == 1 && pread(fd, buffer, 64, 0) == 5 && !memcmp(buffer, "text!", 5));
  HOLDS(ftruncate(fd, 2) == 0 && fchmod(fd, 0600) == 0 && fstat(fd, &s) == 0 && s.st_size == 2);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  FAILS(ENOENT, linkat(AT_FDCWD, path, AT_FDCWD, "back", AT_SYMLINK_FOLLOW));
  int second = open(path, O_RDONLY);
  HOLDS(second >= 0 && read(second, buffer, 64) == 2 && close(second) == 0);
  put("file", "another");
  HOLDS(pread(fd, buffer, 64, 0) == 2 && close(fd) == 0 && has("file", "another"));
  check("replaced_while_open");
  put("new", "new");
  fd = open("file", O_RDONLY);
  HOLDS(rename("new", "file") == 0 && pread(fd, buffer, 64, 0) == 7 && fstat(fd, &s) == 0 && s.st_nlink == 0);
  HOLDS(has("file", "new") && close(fd) == 0);
  check("temporary_files");
  fd = open(".", O_TMPFILE | O_RDWR, 0640);
  HOLDS(fd >= 0 && fstat(fd, &s) == 0 && s.st_nlink == 0 && (s.st_mode & 07777) == 0640);
  HOLDS(write(fd, "temporary", 9) == 9);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  HOLDS(linkat(AT_FDCWD, path, AT_FDCWD, "kept", AT_SYMLINK_FOLLOW) == 0 && has("kept", "temporary"));
  HOLDS(status("kept").st_nlink == 1 && close(fd) == 0);
  fd = open(".", O_TMPFILE | O_RDWR | O_EXCL, 0600);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  FAILS(ENOENT, linkat(AT_FDCWD, path, AT_FDCWD, "never", AT_SYMLINK_FOLLOW));
  HOLDS(close(fd) == 0);
  check("directories_without_a_name");
  HOLDS(mkdir("d", 0755) == 0);
  fd = open("d", O_RDONLY | O_DIRECTORY);
  HOLDS(rmdir("d") == 0);
  FAILS(ENOENT, openat(fd, "file", O_CREAT | O_WRONLY, 0644));
  HOLDS(fstat(fd, &s) == 0 && s.st_nlink == 0 && close(fd) == 0);
}
