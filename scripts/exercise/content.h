// Random operations on the content of files, held against arrays of bytes. See content.c.
#ifndef CONTENT_H
#define CONTENT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
// Above the size from which content has a file of its own, and is read by the kernel without asking (128 KiB).
#define LONGEST 400000u
#define FILES 2

enum kind {
  READ, WRITE, APPEND, TRUNCATE, MAP_READ, MAP_WRITE, MSYNC, PUNCH, ZERO, ALLOCATE, COPY, SENDFILE, DIRECT_READ,
  DIRECT_WRITE, REOPEN, CLOSE, SYNC, STAT, HOLES, REPLACE, TAKE, CHECK, EVICT, MATERIALIZE, REFRESH, REMOUNT, KINDS
};

// All of an operation follows from the seed and its number: any selection of a run's operations can be run.
struct op {
  enum kind kind;
  uint32_t number, file, variant, offset, length;
};

struct file {
  char path[4200];
  int handles[4];               // by enum handle; -1: not open
  unsigned char *map;           // LONGEST bytes, of which `size` may be touched; null: none
  unsigned char *model;         // zeros from `size` on
  uint32_t *writer;             // for each byte the number of the operation that wrote it last
  uint32_t size;
  bool clean, touched;          // its content is as it was found; though something was done that may count as a change
};

enum handle { READ_WRITE, APPENDING, READ_ONLY, DIRECT };

struct run {
  const char *directory, *hook;
  uint64_t seed;
  uint32_t hook_every;
  uint32_t pristine, stride;    // the next pristine file, and how many runs share them
  bool remounts;
  bool off[KINDS];              // what the file system does not have
  struct file files[FILES];
  unsigned char *buffer;        // LONGEST and a page, on a page's boundary
  jmp_buf failed;
  char message[8192];
};

struct op op_of(const struct run *run, uint32_t number);
// The operation of that name is not done; false if there is none.
bool leave_out(struct run *run, const char *name);
void describe(const struct op *op, char *text, int room);
// Runs it; what is wrong goes to `message`, by longjmp to `failed`.
void perform(struct run *run, const struct op *op);
void begin(struct run *run);
void end(struct run *run);
// The file of that number as it is before anybody changed it: its size, and its bytes.
uint32_t pristine_size(uint32_t number);
void pristine_bytes(uint32_t number, unsigned char *bytes, uint32_t size);
int pristine_make(const char *path, uint32_t number);

// A file and its model (model.c). Whatever is wrong goes to `fail`.
__attribute__((noreturn, format(printf, 2, 3))) void fail(struct run *run, const char *format, ...);
// With the errno of a call that has failed.
__attribute__((noreturn)) void call_failed(struct run *run, const struct file *file, const char *call);
// Opened at its first use; -1 where there is no O_DIRECT.
int handle_of(struct run *run, struct file *file, enum handle which);
void close_handles(struct run *run, struct file *file);
void unmap(struct file *file);
// In the model: the file is at least as long; these bytes are written (null: zeros); it is exactly as long.
void grow(struct file *file, uint32_t size);
void put(struct file *file, const struct op *op, uint32_t offset, const unsigned char *bytes, uint32_t length);
void resize(struct file *file, const struct op *op, uint32_t size);
// Fills the buffer with content that tells which operation it is from.
void fill(struct run *run, const struct op *op, uint32_t length);
void compare(struct run *run, const struct file *file, const unsigned char *got, uint32_t offset, uint32_t length,
             const char *how);
void check_size(struct run *run, const struct file *file, const struct stat *state, const char *how);
// Another file, which nobody has touched.
void take(struct run *run, struct file *file, uint32_t number);

#endif
