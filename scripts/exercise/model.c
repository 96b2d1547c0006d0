// Two files and their models: arrays of bytes, and who wrote each.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "content.h"

void fail(struct run *run, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(run->message, sizeof run->message, format, arguments);
  va_end(arguments);
  longjmp(run->failed, 1);
}

void call_failed(struct run *run, const struct file *file, const char *call) {
  fail(run, "%s on %s: %s", call, file->path, strerrorname_np(errno));
}

int handle_of(struct run *run, struct file *file, enum handle which) {
  static const int flags[] = {O_RDWR, O_WRONLY | O_APPEND, O_RDONLY, O_RDWR | O_DIRECT};
  if (file->handles[which] < 0) {
    file->handles[which] = open(file->path, flags[which] | O_CLOEXEC);
    if (file->handles[which] < 0 && which == DIRECT && errno == EINVAL) {
      run->off[DIRECT_READ] = run->off[DIRECT_WRITE] = true;
      return -1;
    }
    if (file->handles[which] < 0) call_failed(run, file, "open");
  }
  return file->handles[which];
}

void close_handles(struct run *run, struct file *file) {
  for (int which = 0; which < 4; which++) {
    if (file->handles[which] >= 0 && close(file->handles[which]) != 0) call_failed(run, file, "close");
    file->handles[which] = -1;
  }
}

void unmap(struct file *file) {
  if (file->map) munmap(file->map, LONGEST);
  file->map = NULL;
}

// The model.

void grow(struct file *file, uint32_t size) {
  if (size > file->size) file->size = size;
}

void put(struct file *file, const struct op *op, uint32_t offset, const unsigned char *bytes, uint32_t length) {
  if (bytes) memcpy(file->model + offset, bytes, length);
  else memset(file->model + offset, 0, length);
  for (uint32_t place = offset; place < offset + length; place++) file->writer[place] = op->number;
  file->touched = true;
  if (length > 0) file->clean = false;
}

void resize(struct file *file, const struct op *op, uint32_t size) {
  uint32_t from = SMALLER(size, file->size), to = size > file->size ? size : file->size;
  put(file, op, from, NULL, to - from);
  file->size = size;
}

// Content that tells which operation it is from.
void fill(struct run *run, const struct op *op, uint32_t length) {
  for (uint32_t place = 0; place < length; place++)
    run->buffer[place] = (unsigned char)(1 + (op->number * 37u + place * 3u + (place >> 8)) % 255);
}

void compare(struct run *run, const struct file *file, const unsigned char *got, uint32_t offset, uint32_t length,
                    const char *how) {
  if (memcmp(got, file->model + offset, length) == 0) return;
  uint32_t place = 0, wrong = 0;
  while (got[place] == file->model[offset + place]) place++;
  for (uint32_t each = place; each < length; each++) wrong += got[each] != file->model[offset + each];
  fail(run, "%s %s: %u bytes of %u at %u are wrong, the first at %u (of %u): %02x for %02x, which operation #%u wrote",
       how, file->path, wrong, length, offset, offset + place, file->size, got[place], file->model[offset + place],
       file->writer[offset + place]);
}

void check_size(struct run *run, const struct file *file, const struct stat *state, const char *how) {
  if (state->st_size != (off_t)file->size)
    fail(run, "%s %s: size %lld for %u", how, file->path, (long long)state->st_size, file->size);
}

// Another file, which nobody has touched.
void take(struct run *run, struct file *file, uint32_t number) {
  unmap(file);
  close_handles(run, file);
  if (file->path[0] && unlink(file->path) != 0) call_failed(run, file, "unlink");
  uint32_t pristine = run->pristine;
  run->pristine += run->stride;
  snprintf(file->path, sizeof file->path, "%s/pristine-%05u", run->directory, pristine);
  file->clean = access(file->path, F_OK) == 0;
  file->touched = false;
  if (!file->clean && pristine_make(file->path, pristine) != 0) call_failed(run, file, "making");
  file->size = pristine_size(pristine);
  memset(file->model, 0, LONGEST);
  pristine_bytes(pristine, file->model, file->size);
  for (uint32_t place = 0; place < LONGEST; place++) file->writer[place] = number;
}

void begin(struct run *run) {
  for (int each = 0; each < FILES; each++) {
    struct file *file = &run->files[each];
    file->path[0] = 0;
    file->map = NULL;
    for (int which = 0; which < 4; which++) file->handles[which] = -1;
    take(run, file, 0);
  }
}

void end(struct run *run) {
  for (int each = 0; each < FILES; each++) {
    unmap(&run->files[each]);
    for (int which = 0; which < 4; which++)
      if (run->files[each].handles[which] >= 0) close(run->files[each].handles[which]);
  }
}
