// The protocol's limit for changes: the least that a FUSE file system can do for files that are made, written, renamed
// and removed. Names are numbers in one directory, of content only the size is kept, and it asks the kernel for the same
// favours as a writable volume does: long timeouts, killpriv of the second kind, parallel directory operations, no FLUSH
// after the first (the kernel writes back at close(2) without it). Questions for extended attributes are answered.
//
//   write_limit MOUNTPOINT THREADS [FILE]
//
// Names: f0, f1 ... and g0, g1 ... What is written goes into FILE, if there is one. Stays in the foreground until it is
// unmounted.
#define FUSE_USE_VERSION 314
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define TIMEOUT 1e6
#define FILES_MAX 4000000UL

static off_t size_of[FILES_MAX];
static fuse_ino_t nodes[2][FILES_MAX];
static fuse_ino_t next_node = 2;
static int store = -1;

static fuse_ino_t *place(const char *name) {
  static fuse_ino_t none;
  none = 0;
  char *end;
  unsigned long number = strtoul(name + 1, &end, 10);
  return (*name == 'f' || *name == 'g') && end > name + 1 && !*end && number < FILES_MAX ? &nodes[*name == 'g'][number]
                                                                                        : &none;
}

static void attributes(fuse_ino_t node, struct stat *s) {
  memset(s, 0, sizeof *s);
  s->st_ino = node;
  s->st_mode = node == FUSE_ROOT_ID ? S_IFDIR | 0777 : S_IFREG | 0644;
  s->st_nlink = 1;
  s->st_size = node == FUSE_ROOT_ID ? 0 : size_of[node];
}

static void entry(fuse_ino_t node, struct fuse_entry_param *e) {
  memset(e, 0, sizeof *e);
  e->ino = node;
  attributes(node, &e->attr);
  e->attr_timeout = e->entry_timeout = TIMEOUT;
}

static void do_lookup(fuse_req_t request, fuse_ino_t parent, const char *name) {
  (void)parent;
  struct fuse_entry_param e;
  fuse_ino_t node = *place(name);
  if (!node) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  entry(node, &e);
  fuse_reply_entry(request, &e);
}

static void do_getattr(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info) {
  (void)info;
  struct stat s;
  attributes(node, &s);
  fuse_reply_attr(request, &s, TIMEOUT);
}

static void do_setattr(fuse_req_t request, fuse_ino_t node, struct stat *change, int what, struct fuse_file_info *info) {
  (void)info;
  if (what & FUSE_SET_ATTR_SIZE) size_of[node] = change->st_size;
  struct stat s;
  attributes(node, &s);
  fuse_reply_attr(request, &s, TIMEOUT);
}

static void do_create(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode,
                      struct fuse_file_info *info) {
  (void)parent;
  (void)mode;
  struct fuse_entry_param e;
  fuse_ino_t node = next_node < FILES_MAX ? next_node++ : 2;
  *place(name) = node;
  entry(node, &e);
  info->keep_cache = 1;
  fuse_reply_create(request, &e, info);
}

static void do_open(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info) {
  (void)node;
  info->keep_cache = 1;
  fuse_reply_open(request, info);
}

static void do_write(fuse_req_t request, fuse_ino_t node, const char *bytes, size_t count, off_t offset,
                     struct fuse_file_info *info) {
  (void)info;
  if (store >= 0 && pwrite(store, bytes, count, offset) != (ssize_t)count) {
    fuse_reply_err(request, EIO);
    return;
  }
  if (offset + (off_t)count > size_of[node]) size_of[node] = offset + (off_t)count;
  fuse_reply_write(request, count);
}

static void do_nothing(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info) {
  (void)node;
  (void)info;
  fuse_reply_err(request, 0);
}

static void do_flush(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info) {
  (void)node;
  (void)info;
  fuse_reply_err(request, ENOSYS);
}

static void do_getxattr(fuse_req_t request, fuse_ino_t node, const char *name, size_t size) {
  (void)node;
  (void)name;
  (void)size;
  fuse_reply_err(request, ENODATA);
}

static void do_unlink(fuse_req_t request, fuse_ino_t parent, const char *name) {
  (void)parent;
  *place(name) = 0;
  fuse_reply_err(request, 0);
}

static void do_rename(fuse_req_t request, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
                      const char *new_name, unsigned flags) {
  (void)parent;
  (void)new_parent;
  (void)flags;
  *place(new_name) = *place(name);
  *place(name) = 0;
  fuse_reply_err(request, 0);
}

static void do_forget(fuse_req_t request, fuse_ino_t node, uint64_t count) {
  (void)node;
  (void)count;
  fuse_reply_none(request);
}

static void do_init(void *context, struct fuse_conn_info *connection) {
  (void)context;
  connection->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_WRITEBACK_CACHE);
  connection->max_write = 1 << 20;
}

// What libfuse does not pass on is put into the one INIT reply here.
static ssize_t write_reply(int fd, struct iovec *iov, int count, void *context) {
  (void)context;
  static int answered;
  if (!answered && count >= 2 && iov[1].iov_len >= 40) {
    answered = 1;
    ((struct fuse_init_out *)iov[1].iov_base)->flags |= FUSE_PARALLEL_DIROPS | FUSE_HANDLE_KILLPRIV_V2;
  }
  return writev(fd, iov, count);
}
static ssize_t read_request(int fd, void *buffer, size_t size, void *context) {
  (void)context;
  return read(fd, buffer, size);
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  unsigned threads = (unsigned)atoi(arguments[2]);
  if (count > 3 && (store = open(arguments[3], O_WRONLY | O_CLOEXEC)) < 0) return 1;
  struct fuse_lowlevel_ops operations = {.init = do_init,
                                         .lookup = do_lookup,
                                         .forget = do_forget,
                                         .getattr = do_getattr,
                                         .setattr = do_setattr,
                                         .create = do_create,
                                         .open = do_open,
                                         .write = do_write,
                                         .flush = do_flush,
                                         .release = do_nothing,
                                         .getxattr = do_getxattr,
                                         .unlink = do_unlink,
                                         .rename = do_rename};
  struct fuse_args options = FUSE_ARGS_INIT(0, NULL);
  fuse_opt_add_arg(&options, "write_limit");
  if (geteuid() == 0) fuse_opt_add_arg(&options, "-oallow_other");
  fuse_opt_add_arg(&options, "-odefault_permissions");
  struct fuse_session *session = fuse_session_new(&options, &operations, sizeof operations, NULL);
  if (!session || fuse_session_mount(session, arguments[1])) return 1;
  const struct fuse_custom_io io = {.writev = write_reply, .read = read_request};
  if (fuse_session_custom_io(session, &io, fuse_session_fd(session))) return 1;
  fuse_set_signal_handlers(session);
  int result;
  if (threads < 2) {
    result = fuse_session_loop(session);
  } else {
    struct fuse_loop_config *loop = fuse_loop_cfg_create();
    fuse_loop_cfg_set_max_threads(loop, threads);
    result = fuse_session_loop_mt(session, loop);
  }
  fuse_session_unmount(session);
  return result != 0;
}
