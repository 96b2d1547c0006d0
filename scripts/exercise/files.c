// What each operation does to a file and to its model.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "content.h"

#define PAGE 4096u

static void do_read(struct run *run, struct file *file, const struct op *op) {
  int descriptor = handle_of(run, file, op->variant & 1 ? READ_ONLY : READ_WRITE);
  uint32_t expected = op->offset < file->size ? SMALLER(op->length, file->size - op->offset) : 0;
  ssize_t got = pread(descriptor, run->buffer, op->length, op->offset);
  if (got < 0) call_failed(run, file, "pread");
  if (got != (ssize_t)expected)
    fail(run, "pread of %u at %u of %s: %zd bytes for %u (size %u)", op->length, op->offset, file->path, got, expected,
         file->size);
  compare(run, file, run->buffer, op->offset, expected, "pread of");
}

static void wrote(struct run *run, struct file *file, const struct op *op, uint32_t offset, ssize_t result) {
  if (result < 0) call_failed(run, file, "write");
  put(file, op, offset, run->buffer, (uint32_t)result);
  grow(file, offset + (uint32_t)result);
  if (result != (ssize_t)op->length) fail(run, "write to %s: %zd bytes for %u", file->path, result, op->length);
}

static void do_write(struct run *run, struct file *file, const struct op *op) {
  fill(run, op, op->length);
  wrote(run, file, op, op->offset, pwrite(handle_of(run, file, READ_WRITE), run->buffer, op->length, op->offset));
}

static void do_append(struct run *run, struct file *file, const struct op *op) {
  if (file->size + op->length > LONGEST) return;
  fill(run, op, op->length);
  wrote(run, file, op, file->size, write(handle_of(run, file, APPENDING), run->buffer, op->length));
}

static void do_truncate(struct run *run, struct file *file, const struct op *op) {
  uint32_t size = op->variant & 4 ? 0 : op->length;
  if (op->variant & 8) {
    int descriptor = open(file->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (descriptor < 0) call_failed(run, file, "open with O_TRUNC");
    close(descriptor);
    size = 0;
  } else if ((op->variant & 1 ? truncate(file->path, size) : ftruncate(handle_of(run, file, READ_WRITE), size)) != 0) {
    call_failed(run, file, "truncate");
  }
  resize(file, op, size);
}

static void map_file(struct run *run, struct file *file) {
  if (file->map) return;
  void *map = mmap(NULL, LONGEST, PROT_READ | PROT_WRITE, MAP_SHARED, handle_of(run, file, READ_WRITE), 0);
  if (map == MAP_FAILED) call_failed(run, file, "mmap");
  file->map = map;
}

static void do_map(struct run *run, struct file *file, const struct op *op) {
  if (op->offset >= file->size) return;
  uint32_t length = SMALLER(op->length, file->size - op->offset);
  map_file(run, file);
  if (op->kind == MAP_READ) {
    memcpy(run->buffer, file->map + op->offset, length);
    compare(run, file, run->buffer, op->offset, length, "mapping of");
  } else {
    fill(run, op, length);
    memcpy(file->map + op->offset, run->buffer, length);
    put(file, op, op->offset, run->buffer, length);
  }
  if ((op->variant & 7) == 7) unmap(file);
}

static void do_msync(struct run *run, struct file *file, const struct op *op) {
  int how = op->variant & 1 ? MS_SYNC : MS_ASYNC;
  if (file->map && msync(file->map, LONGEST, how) != 0) call_failed(run, file, "msync");
}

static void do_allocate(struct run *run, struct file *file, const struct op *op) {
  bool keeps = op->kind == PUNCH || (op->variant & 1);
  int mode = op->kind == PUNCH ? FALLOC_FL_PUNCH_HOLE : op->kind == ZERO ? FALLOC_FL_ZERO_RANGE : 0;
  if (keeps) mode |= FALLOC_FL_KEEP_SIZE;
  int result = fallocate(handle_of(run, file, READ_WRITE), mode, op->offset, op->length);
  if (result != 0 && errno == EOPNOTSUPP) {
    run->off[op->kind] = true;
    return;
  }
  if (result != 0) call_failed(run, file, "fallocate");
  if (op->kind != ALLOCATE && op->offset < file->size)
    put(file, op, op->offset, NULL, SMALLER(op->length, file->size - op->offset));
  file->touched = true;
  if (!keeps && op->offset + op->length > file->size) {
    grow(file, op->offset + op->length);
    file->clean = false;
  }
}

static void do_copy(struct run *run, struct file *file, const struct op *op) {
  struct file *source = &run->files[op->variant % FILES];
  // From another place of the source, which is not the target's.
  uint32_t from = (op->offset + LONGEST / 2) % LONGEST;
  uint32_t length = from < source->size ? SMALLER(op->length, source->size - from) : 0;
  if (source == file && from < op->offset + op->length && op->offset < from + op->length) return;
  int out = handle_of(run, file, READ_WRITE), in = handle_of(run, source, op->variant & 2 ? READ_ONLY : READ_WRITE);
  memcpy(run->buffer, source->model + from, length);
  for (uint32_t done = 0; done < length;) {
    off_t here = from + done, there = op->offset + done;
    ssize_t count;
    if (op->kind == COPY) {
      count = copy_file_range(in, &here, out, &there, length - done, 0);
    } else {
      if (lseek(out, there, SEEK_SET) < 0) call_failed(run, file, "lseek");
      count = sendfile(out, in, &here, length - done);
    }
    if (count <= 0) fail(run, "copy to %s: %s", file->path, count < 0 ? strerrorname_np(errno) : "nothing copied");
    done += (uint32_t)count;
  }
  if (length == 0) return;
  put(file, op, op->offset, run->buffer, length);
  grow(file, op->offset + length);
}

static void do_direct(struct run *run, struct file *file, const struct op *op) {
  uint32_t offset = op->offset / PAGE * PAGE, length = (op->length / PAGE + 1) * PAGE;
  if (offset + length > LONGEST) return;
  int descriptor = handle_of(run, file, DIRECT);
  if (descriptor < 0) return;
  if (op->kind == DIRECT_WRITE) {
    struct op whole = *op;
    whole.length = length;
    fill(run, op, length);
    wrote(run, file, &whole, offset, pwrite(descriptor, run->buffer, length, offset));
    return;
  }
  uint32_t expected = offset < file->size ? SMALLER(length, file->size - offset) : 0;
  ssize_t got = pread(descriptor, run->buffer, length, offset);
  if (got < 0) call_failed(run, file, "direct pread");
  if (got != (ssize_t)expected)
    fail(run, "direct pread at %u of %s: %zd bytes for %u", offset, file->path, got, expected);
  compare(run, file, run->buffer, offset, expected, "direct pread of");
}

static void do_reopen(struct run *run, struct file *file, const struct op *op) {
  close_handles(run, file);
  if (op->variant & 1) unmap(file);
  handle_of(run, file, op->variant & 2 ? READ_ONLY : READ_WRITE);
}

static void do_sync(struct run *run, struct file *file, const struct op *op) {
  int descriptor = handle_of(run, file, op->variant & 2 ? READ_ONLY : READ_WRITE);
  if ((op->variant & 1 ? fsync(descriptor) : fdatasync(descriptor)) != 0) call_failed(run, file, "fsync");
}

static void do_stat(struct run *run, struct file *file) {
  struct stat state;
  if (stat(file->path, &state) != 0) call_failed(run, file, "stat");
  check_size(run, file, &state, "stat of");
  for (int which = 0; which < 4; which++) {
    if (file->handles[which] < 0) continue;
    if (fstat(file->handles[which], &state) != 0) call_failed(run, file, "fstat");
    check_size(run, file, &state, "fstat of");
  }
}

// Where the map of data and holes says that there is a hole, there are zeros.
static void do_holes(struct run *run, struct file *file) {
  int descriptor = handle_of(run, file, READ_ONLY);
  for (off_t place = 0; place < (off_t)file->size;) {
    off_t data = lseek(descriptor, place, SEEK_DATA);
    if (data < 0 && errno != ENXIO) call_failed(run, file, "lseek with SEEK_DATA");
    off_t stop = data < 0 ? (off_t)file->size : data;
    for (off_t each = place; each < stop; each++)
      if (file->model[each]) fail(run, "%s has a hole at %lld, where there are data", file->path, (long long)each);
    if (data < 0) return;
    if ((place = lseek(descriptor, data, SEEK_HOLE)) < 0) call_failed(run, file, "lseek with SEEK_HOLE");
    if (place <= data) fail(run, "%s: the hole behind %lld is at %lld", file->path, (long long)data, (long long)place);
  }
}

// As editors save. The old file is there as long as it is open.
static void do_replace(struct run *run, struct file *file, const struct op *op) {
  char path[4300];
  unsigned char old[64];
  snprintf(path, sizeof path, "%s.new", file->path);
  int kept = handle_of(run, file, READ_ONLY), descriptor = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (descriptor < 0) call_failed(run, file, "open with O_CREAT");
  fill(run, op, op->length);
  if (op->length && write(descriptor, run->buffer, op->length) != (ssize_t)op->length) call_failed(run, file, "write");
  if (close(descriptor) != 0) call_failed(run, file, "close");
  if (rename(path, file->path) != 0) call_failed(run, file, "rename");
  ssize_t got = pread(kept, old, sizeof old, 0);
  if (got != (ssize_t)SMALLER(sizeof old, file->size))
    fail(run, "replaced %s: %zd bytes of the old one", file->path, got);
  compare(run, file, old, 0, (uint32_t)got, "replaced");
  unmap(file);
  close_handles(run, file);
  resize(file, op, 0);
  resize(file, op, op->length);
  put(file, op, 0, run->buffer, op->length);
}

static void do_check(struct run *run, struct file *file) {
  int descriptor = open(file->path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) call_failed(run, file, "open");
  ssize_t got = pread(descriptor, run->buffer, LONGEST + 1, 0);
  if (got != (ssize_t)file->size) fail(run, "whole %s: %zd bytes for %u", file->path, got, file->size);
  compare(run, file, run->buffer, 0, file->size, "whole");
  close(descriptor);
}

static void do_hook(struct run *run, struct file *file, const struct op *op) {
  static const char *names[KINDS] = {
      [EVICT] = "evict", [MATERIALIZE] = "materialize", [REFRESH] = "refresh", [REMOUNT] = "remount"};
  bool closes = op->kind == REMOUNT || (op->kind == EVICT && op->variant & 3);
  for (int each = 0; each < FILES && closes; each++) {
    if (op->kind == EVICT && &run->files[each] != file) continue;
    unmap(&run->files[each]);
    close_handles(run, &run->files[each]);
  }
  bool is_open = file->map != NULL;
  for (int which = 0; which < 4; which++) is_open |= file->handles[which] >= 0;
  pid_t pid = fork();
  if (pid == 0) {
    execl(run->hook, run->hook, names[op->kind], file->path, NULL);
    _exit(127);
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) call_failed(run, file, "fork");
  // Eviction of what was changed is refused; of what is open, if it was ever read; where nothing could be lost, it may
  // be, or not.
  if (op->kind == EVICT && file->clean && (is_open || file->touched)) return;
  if (op->kind == EVICT && file->size == 0) return;
  bool succeeds = !(op->kind == EVICT && !file->clean);
  bool did = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (succeeds != did)
    fail(run, "%s of %s (%s, %s): the hook ended with status %d", names[op->kind], file->path,
         file->clean ? "clean" : "changed", is_open ? "open" : "closed", WEXITSTATUS(status));
}

void perform(struct run *run, const struct op *op) {
  struct file *file = &run->files[op->file];
  if (run->off[op->kind]) return;
  switch (op->kind) {
    case READ: return do_read(run, file, op);
    case WRITE: return do_write(run, file, op);
    case APPEND: return do_append(run, file, op);
    case TRUNCATE: return do_truncate(run, file, op);
    case MAP_READ: case MAP_WRITE: return do_map(run, file, op);
    case MSYNC: return do_msync(run, file, op);
    case PUNCH: case ZERO: case ALLOCATE: return do_allocate(run, file, op);
    case COPY: case SENDFILE: return do_copy(run, file, op);
    case DIRECT_READ: case DIRECT_WRITE: return do_direct(run, file, op);
    case REOPEN: return do_reopen(run, file, op);
    case CLOSE: return close_handles(run, file);
    case SYNC: return do_sync(run, file, op);
    case STAT: return do_stat(run, file);
    case HOLES: return do_holes(run, file);
    case REPLACE: return do_replace(run, file, op);
    case TAKE: return take(run, file, op->number);
    case CHECK: return do_check(run, file);
    default: return do_hook(run, file, op);
  }
}
