// Files large enough for a file of their own in the content store, and opened again after they were made: as root the
// kernel reads and writes them itself.
#include "writing.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { SIZE = 300000 };

static char *large;

// Makes a file of SIZE bytes 'x', and closes it.
static void make(const char *name) {
  int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
  HOLDS(fd >= 0 && write(fd, large, SIZE) == SIZE && close(fd) == 0);
}

static int reopen(const char *name, int flags) {
  int fd = open(name, flags);
  HOLDS(fd >= 0);
  return fd;
}

static int bytes_at(int fd, off_t offset, const char *text, ssize_t length) {
  char buffer[64];
  return pread(fd, buffer, (size_t)length, offset) == length && !memcmp(buffer, text, (size_t)length);
}

static int holds_at(int fd, off_t offset, const char *text) {
  return bytes_at(fd, offset, text, (ssize_t)strlen(text));
}

static off_t size_of(int fd) {
  struct stat s;
  return fstat(fd, &s) == 0 ? s.st_size : -1;
}

static void pause_a_tick(void) {
  struct timespec tick = {0, 30000000};
  nanosleep(&tick, NULL);
}

static void check_writes(void) {
  check("large_writes_again");
  make("file");
  int fd = reopen("file", O_RDWR), reader = reopen("file", O_RDONLY), end = reopen("file", O_WRONLY | O_APPEND);
  HOLDS(pwrite(fd, "middle", 6, 1000) == 6 && holds_at(reader, 1000, "middle"));
  HOLDS(size_of(fd) == SIZE && pwrite(fd, "far", 3, 400000) == 3);
  HOLDS(size_of(fd) == 400003 && size_of(reader) == 400003 && status("file").st_size == 400003);
  HOLDS(lseek(reader, 0, SEEK_END) == 400003 && holds_at(reader, 400000, "far"));
  HOLDS(write(end, "end", 3) == 3 && holds_at(fd, 400003, "end") && size_of(reader) == 400006);
  HOLDS(status("file").st_blocks * 512 >= SIZE);
  check("large_cuts");
  HOLDS(ftruncate(fd, 50) == 0 && size_of(reader) == 50 && write(end, "end", 3) == 3 && size_of(fd) == 53);
  HOLDS(truncate("file", 40) == 0 && size_of(fd) == 40 && pread(reader, (char[8]){0}, 8, 40) == 0);
  int again = reopen("file", O_WRONLY | O_TRUNC);
  HOLDS(size_of(fd) == 0 && pwrite(again, "anew", 4, 2) == 4 && holds_at(reader, 2, "anew") && size_of(reader) == 6);
  HOLDS(close(again) == 0 && close(fd) == 0 && close(end) == 0 && holds_at(reader, 2, "anew") && close(reader) == 0);
  HOLDS(status("file").st_size == 6);
}

static long long nanoseconds(struct timespec time) { return time.tv_sec * 1000000000LL + time.tv_nsec; }

static void check_large_times(void) {
  struct timespec set[2] = {{1000, 5}, {1000, 5}};
  check("large_times");
  make("times");
  struct stat before = status("times");
  int fd = reopen("times", O_RDWR);
  struct stat opened = status("times");
  HOLDS(opened.st_mtim.tv_sec == before.st_mtim.tv_sec && opened.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
  pause_a_tick();
  HOLDS(pwrite(fd, "1", 1, 0) == 1);
  struct stat after = status("times");
  HOLDS(nanoseconds(after.st_mtim) > nanoseconds(before.st_mtim));
  HOLDS(nanoseconds(after.st_ctim) > nanoseconds(before.st_ctim));
  HOLDS(futimens(fd, set) == 0 && status("times").st_mtim.tv_sec == 1000 && status("times").st_mtim.tv_nsec == 5);
  HOLDS(fchmod(fd, 0600) == 0 && ftruncate(fd, SIZE) == 0 && status("times").st_mtim.tv_sec > 1000);
  HOLDS(futimens(fd, set) == 0 && close(fd) == 0 && status("times").st_mtim.tv_sec == 1000);
  fd = reopen("times", O_RDWR);
  HOLDS(status("times").st_mtim.tv_sec == 1000);
  pause_a_tick();
  HOLDS(pwrite(fd, "1", 1, 0) == 1 && status("times").st_mtim.tv_sec > 1000 && close(fd) == 0);
  HOLDS(status("times").st_mtim.tv_sec > 1000);
}

static void check_large_maps(void) {
  char *page = aligned_alloc(4096, 4096);
  check("large_maps");
  make("maps");
  int fd = reopen("maps", O_RDWR), reader = reopen("maps", O_RDONLY);
  char *one = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  char *two = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, reader, 0);
  HOLDS(one != MAP_FAILED && two != MAP_FAILED);
  if (one == MAP_FAILED || two == MAP_FAILED) return;
  memcpy(one + 5000, "stored", 6);
  HOLDS(holds_at(reader, 5000, "stored") && !memcmp(two + 5000, "stored", 6));
  HOLDS(pwrite(fd, "written", 7, 9000) == 7 && !memcmp(one + 9000, "written", 7) && msync(one, SIZE, MS_SYNC) == 0);
  check("large_stores_after_close");
  HOLDS(close(fd) == 0 && close(reader) == 0);
  memcpy(one + 5000, "STORED", 6);
  reader = reopen("maps", O_RDONLY);
  HOLDS(holds_at(reader, 5000, "STORED") && close(reader) == 0);
  memcpy(one + 6000, "second", 6);
  fd = reopen("maps", O_RDWR);
  HOLDS(holds_at(fd, 6000, "second") && pwrite(fd, "third", 5, 7000) == 5 && !memcmp(one + 7000, "third", 5));
  HOLDS(close(fd) == 0 && munmap(one, SIZE) == 0 && munmap(two, SIZE) == 0);
  reader = reopen("maps", O_RDONLY);
  HOLDS(holds_at(reader, 5000, "STORED") && holds_at(reader, 7000, "third") && close(reader) == 0);
  HOLDS(status("maps").st_size == SIZE);
  check("large_direct");
  fd = reopen("maps", O_RDWR | O_DIRECT);
  memset(page, 'd', 4096);
  HOLDS(pwrite(fd, page, 4096, 8192) == 4096);
  reader = reopen("maps", O_RDONLY);
  HOLDS(holds_at(reader, 8192, "dddd") && close(reader) == 0 && close(fd) == 0);
  free(page);
}

static void check_large_room(void) {
  check("large_room");
  make("room");
  make("source");
  int fd = reopen("room", O_RDWR), from = reopen("source", O_RDWR);
  HOLDS(fallocate(fd, 0, 0, 500000) == 0 && size_of(fd) == 500000 && pwrite(fd, "x", 1, 600000) == 1);
  HOLDS(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 4096) == 0 && size_of(fd) == 600001);
  HOLDS(bytes_at(fd, 4095, "x\0\0", 3) && bytes_at(fd, 8191, "\0x", 2));
  HOLDS(pwrite(from, "copied", 6, 310000) == 6);
  off_t at = 310000, to = 700000;
  HOLDS(copy_file_range(from, &at, fd, &to, 6, 0) == 6 && holds_at(fd, 700000, "copied") && size_of(fd) == 700006);
  HOLDS(lseek(fd, 0, SEEK_DATA) == 0 && lseek(fd, 0, SEEK_HOLE) > 0 && lseek(fd, 700006, SEEK_DATA) < 0);
  HOLDS(fsync(fd) == 0 && fdatasync(from) == 0);
  check("large_limits");
  pid_t child = fork();
  if (!child) {
    struct rlimit limit = {800000, 800000};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit)) _exit(1);
    errno = 0;
    _exit(pwrite(fd, "x", 1, 900000) == -1 && errno == EFBIG && pwrite(fd, "x", 1, 1) == 1 ? 0 : 2);
  }
  int result = -1;
  HOLDS(waitpid(child, &result, 0) == child && result == 0 && size_of(fd) == 700006);
  HOLDS(close(fd) == 0 && close(from) == 0);
}

static void check_large_lives(void) {
  check("large_without_a_name");
  make("gone");
  int fd = reopen("gone", O_RDWR);
  HOLDS(unlink("gone") == 0 && pwrite(fd, "still", 5, 350000) == 5 && size_of(fd) == 350005);
  make("gone");
  HOLDS(holds_at(fd, 350000, "still") && status("gone").st_size == SIZE && close(fd) == 0);
  check("large_replaced");
  int old = reopen("gone", O_RDWR);
  make("new");
  int new = reopen("new", O_RDWR);
  HOLDS(rename("new", "gone") == 0 && pwrite(old, "old", 3, 0) == 3 && pwrite(new, "new", 3, 0) == 3);
  HOLDS(holds_at(old, 0, "old") && close(old) == 0);
  int fresh = reopen("gone", O_RDONLY);
  HOLDS(holds_at(fresh, 0, "new") && close(fresh) == 0 && close(new) == 0);
  check("large_kinds_of_open");
  // Beside the handle that made it, and without it.
  fd = open("kinds", O_RDWR | O_CREAT | O_EXCL, 0644);
  HOLDS(write(fd, large, SIZE) == SIZE);
  int beside = reopen("kinds", O_RDWR);
  HOLDS(pwrite(beside, "one", 3, 100) == 3 && holds_at(fd, 100, "one") && close(fd) == 0);
  fd = reopen("kinds", O_RDONLY);
  HOLDS(holds_at(fd, 100, "one") && close(beside) == 0 && close(fd) == 0);
  for (int i = 0; i < 20; i++) {
    char text[8];
    snprintf(text, sizeof text, "%06d", i);
    fd = reopen("kinds", i % 3 ? O_RDWR : O_RDWR | O_NONBLOCK);
    HOLDS(pwrite(fd, text, 6, 200000) == 6 && close(fd) == 0);
    fd = reopen("kinds", O_RDONLY);
    HOLDS(holds_at(fd, 200000, text) && close(fd) == 0);
  }
}

void check_large(void) {
  large = malloc(SIZE);
  memset(large, 'x', SIZE);
  check_writes();
  check_large_times();
  check_large_maps();
  check_large_room();
  check_large_lives();
  free(large);
}
