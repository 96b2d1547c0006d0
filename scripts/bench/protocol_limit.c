// The protocol's limit: the least that a FUSE file system can do for a walk or a read. Names, attributes and content
// are computed, nothing is looked up and nothing is kept, and it asks the kernel for the same favours as we do:
// readdirplus, parallel directory operations, long timeouts, kept caches. What a volume needs beyond is our own cost.
//
//   protocol_limit MOUNTPOINT DIRECTORIES FILES_PER_DIRECTORY FILE_SIZE
//
// The tree: MOUNTPOINT/d00000/f00000 and so on. Stays in the foreground until it is unmounted.
#define FUSE_USE_VERSION 314
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fuse_lowlevel.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define TIMEOUT 3600.0
#define FIRST_DIRECTORY 1000UL
#define FIRST_FILE 100000000UL

static unsigned long directories, files_each;
static off_t file_size;
static char *content;

static int is_file(fuse_ino_t node) { return node >= FIRST_FILE; }

static void attributes(fuse_ino_t node, struct stat *s) {
  memset(s, 0, sizeof *s);
  s->st_ino = node;
  s->st_mode = is_file(node) ? S_IFREG | 0644 : S_IFDIR | 0755;
  s->st_nlink = is_file(node) ? 1 : 2;
  s->st_size = is_file(node) ? file_size : 4096;
  s->st_blocks = is_file(node) ? (file_size + 511) / 512 : 8;
}

static void entry(fuse_ino_t node, struct fuse_entry_param *e) {
  memset(e, 0, sizeof *e);
  e->ino = node;
  attributes(node, &e->attr);
  e->attr_timeout = e->entry_timeout = TIMEOUT;
}

static fuse_ino_t child(fuse_ino_t parent, unsigned long index) {
  return parent == FUSE_ROOT_ID ? FIRST_DIRECTORY + index
                                : FIRST_FILE + (parent - FIRST_DIRECTORY) * files_each + index;
}

static void do_lookup(fuse_req_t request, fuse_ino_t parent, const char *name) {
  struct fuse_entry_param e;
  char *end;
  unsigned long limit = parent == FUSE_ROOT_ID ? directories : files_each;
  unsigned long index = name[0] == (parent == FUSE_ROOT_ID ? 'd' : 'f') ? strtoul(name + 1, &end, 10) : limit;
  if (is_file(parent) || index >= limit || *end) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  entry(child(parent, index), &e);
  fuse_reply_entry(request, &e);
}

static void do_getattr(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info) {
  (void)info;
  struct stat s;
  attributes(node, &s);
  fuse_reply_attr(request, &s, TIMEOUT);
}

static void do_opendir(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info) {
  (void)node;
  info->cache_readdir = 1;
  info->keep_cache = 1;
  fuse_reply_open(request, info);
}

static void do_readdirplus(fuse_req_t request, fuse_ino_t node, size_t size, off_t offset,
                           struct fuse_file_info *info) {
  (void)info;
  char *buffer = malloc(size), name[32];
  size_t used = 0;
  unsigned long limit = node == FUSE_ROOT_ID ? directories : files_each;
  for (unsigned long index = (unsigned long)offset; index < limit; index++) {
    struct fuse_entry_param e;
    entry(child(node, index), &e);
    snprintf(name, sizeof name, node == FUSE_ROOT_ID ? "d%05lu" : "f%05lu", index);
    size_t needed = fuse_add_direntry_plus(request, buffer + used, size - used, name, &e, (off_t)index + 1);
    if (needed > size - used) break;
    used += needed;
  }
  fuse_reply_buf(request, buffer, used);
  free(buffer);
}

static void do_open(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info) {
  (void)node;
  info->keep_cache = 1;
  info->noflush = 1;
  fuse_reply_open(request, info);
}

static void do_read(fuse_req_t request, fuse_ino_t node, size_t size, off_t offset, struct fuse_file_info *info) {
  (void)node;
  (void)info;
  size_t left = offset >= file_size ? 0 : (size_t)(file_size - offset);
  fuse_reply_buf(request, content, size < left ? size : left);
}

static void do_release(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info) {
  (void)node;
  (void)info;
  fuse_reply_err(request, 0);
}

static void do_getxattr(fuse_req_t request, fuse_ino_t node, const char *name, size_t size) {
  (void)node;
  (void)name;
  (void)size;
  fuse_reply_err(request, ENOSYS);
}

static void do_init(void *context, struct fuse_conn_info *connection) {
  (void)context;
  connection->want |= connection->capable & (FUSE_CAP_READDIRPLUS | FUSE_CAP_PARALLEL_DIROPS);
  connection->want &= ~(unsigned)FUSE_CAP_READDIRPLUS_AUTO;
  connection->max_background = 1000;
}

// libfuse before 3.17 does not pass PARALLEL_DIROPS on to the kernel: it is put into the one INIT reply here.
static ssize_t write_reply(int fd, struct iovec *iov, int count, void *context) {
  (void)context;
  static int answered;
  if (!answered && count >= 2 && iov[1].iov_len >= 24) {
    answered = 1;
    ((struct fuse_init_out *)iov[1].iov_base)->flags |= FUSE_PARALLEL_DIROPS;
  }
  return writev(fd, iov, count);
}
static ssize_t read_request(int fd, void *buffer, size_t size, void *context) {
  (void)context;
  return read(fd, buffer, size);
}

int main(int count, char **arguments) {
  if (count < 5) return 2;
  directories = strtoul(arguments[2], NULL, 10);
  files_each = strtoul(arguments[3], NULL, 10);
  file_size = strtol(arguments[4], NULL, 10);
  content = calloc(1, 1 << 20);
  struct fuse_lowlevel_ops operations = {.init = do_init,
                                         .lookup = do_lookup,
                                         .getattr = do_getattr,
                                         .opendir = do_opendir,
                                         .readdirplus = do_readdirplus,
                                         .open = do_open,
                                         .read = do_read,
                                         .release = do_release,
                                         .getxattr = do_getxattr};
  struct fuse_args options = FUSE_ARGS_INIT(0, NULL);
  fuse_opt_add_arg(&options, "protocol_limit");
  if (geteuid() == 0) fuse_opt_add_arg(&options, "-oallow_other");
  fuse_opt_add_arg(&options, "-odefault_permissions");
  struct fuse_session *session = fuse_session_new(&options, &operations, sizeof operations, NULL);
  if (!session || fuse_session_mount(session, arguments[1])) return 1;
  const struct fuse_custom_io io = {.writev = write_reply, .read = read_request};
  if (fuse_session_custom_io(session, &io, fuse_session_fd(session))) return 1;
  fuse_set_signal_handlers(session);
  struct fuse_loop_config *loop = fuse_loop_cfg_create();
  fuse_loop_cfg_set_max_threads(loop, 10);
  int result = fuse_session_loop_mt(session, loop);
  fuse_session_unmount(session);
  return result != 0;
}
