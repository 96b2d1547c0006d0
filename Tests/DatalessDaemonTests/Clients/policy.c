// A program that uses the library and does as it is told: lines "THREAD VERB ARGUMENTS..." on its standard input, one line
// back for each. Thread 0 reads them; others are made by "new" and do nothing but what they are told. It announces
// "PID TID" when it starts, after exec too, and a child that takes over announces itself in the same way.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cdataless.h"
#include "cdataless_carrier.h"

enum { MAXIMUM = 8, LINE = 512 };

struct worker {
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  char line[LINE];
  int has_line;
  pid_t tid;
};

static struct worker workers[MAXIMUM];
static int worker_count = 1;
static char **program;

static void serve(void);
static void perform(char *line);

static pid_t own_tid(void) { return (pid_t)syscall(SYS_gettid); }

static void announce(void) { dprintf(1, "%d %d\n", getpid(), own_tid()); }

static void answer(int result) {
  if (result < 0) dprintf(1, "%s\n", strerrorname_np(errno));
  else dprintf(1, "%d\n", result);
}

// Byte by byte: what comes after the line belongs to whoever reads next, which may be a child.
static int read_line(char *line) {
  int count = 0;
  char byte;
  while (read(0, &byte, 1) == 1) {
    if (byte == '\n') {
      line[count] = 0;
      return 1;
    }
    if (count < LINE - 1) line[count++] = byte;
  }
  return 0;
}

// The child takes over; the parent waits for its end and ends with it.
static void take_over(pid_t child) {
  if (child < 0) {
    answer(-1);
  } else if (child > 0) {
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    _exit(0);
  } else {
    worker_count = 1;
    announce();
    serve();
    _exit(0);
  }
}

// As take_over, with a process between them that is gone when the grandchild speaks.
static void fork_twice(void) {
  int alive[2], over[2];
  char byte;
  if (pipe(alive) != 0 || pipe(over) != 0) return answer(-1);
  pid_t middle = fork();
  if (middle > 0) {
    close(over[1]);
    waitpid(middle, NULL, 0);
    close(alive[0]);
    close(alive[1]);
    // The grandchild keeps its end until it ends.
    while (read(over[0], &byte, 1) < 0 && errno == EINTR) {}
    _exit(0);
  }
  if (fork() > 0) _exit(0);
  close(alive[1]);
  while (read(alive[0], &byte, 1) < 0 && errno == EINTR) {}
  take_over(0);
}

static void *work(void *context) {
  struct worker *self = context;
  pthread_mutex_lock(&self->mutex);
  self->tid = own_tid();
  pthread_cond_broadcast(&self->changed);
  while (1) {
    while (!self->has_line) pthread_cond_wait(&self->changed, &self->mutex);
    if (strncmp(self->line, "end", 3) == 0) break;
    // Without the C library's knowledge, so that no destructor runs.
    if (strncmp(self->line, "vanish", 6) == 0) syscall(SYS_exit, 0);
    perform(self->line);
    self->has_line = 0;
    pthread_cond_broadcast(&self->changed);
  }
  pthread_mutex_unlock(&self->mutex);
  return NULL;
}

static void new_worker(void) {
  struct worker *worker = &workers[worker_count];
  memset(worker, 0, sizeof *worker);
  pthread_mutex_init(&worker->mutex, NULL);
  pthread_cond_init(&worker->changed, NULL);
  if (worker_count == MAXIMUM || pthread_create(&worker->thread, NULL, work, worker) != 0) {
    errno = EAGAIN;
    return answer(-1);
  }
  pthread_mutex_lock(&worker->mutex);
  while (worker->tid == 0) pthread_cond_wait(&worker->changed, &worker->mutex);
  pthread_mutex_unlock(&worker->mutex);
  worker_count++;
  dprintf(1, "%d %d\n", getpid(), worker->tid);
}

// The next thread gets this id, if nobody else takes it: the system gives ids in order.
static void new_worker_as(int tid) {
  char text[16];
  int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
  int count = snprintf(text, sizeof text, "%d", tid - 1);
  if (file < 0 || write(file, text, (size_t)count) != count) return answer(-1);
  close(file);
  new_worker();
}

// Takes a lock as the library would for a thread of anybody.
static void pretend(int tid, unsigned long long ticks, int policy) {
  int file = open(CDATALESS_NAMESPACE_FILE, O_RDONLY | O_CLOEXEC);
  struct flock lock = {.l_type = F_RDLCK, .l_start = cdataless_thread_place(tid, ticks) + policy, .l_len = 1};
  answer(fcntl(file, F_SETLK, &lock));
}

static void perform(char *line) {
  int a = 0, b = 0, c = 0;
  unsigned long long ticks = 0;
  if (sscanf(line, "set %d %d %d", &a, &b, &c) == 3) answer(setiopolicy_np(a, b, c));
  else if (sscanf(line, "get %d %d", &a, &b) == 2) answer(getiopolicy_np(a, b));
  else if (sscanf(line, "errno %d %d %d", &a, &b, &c) == 3) errno = 77, setiopolicy_np(a, b, c), answer(errno);
  else if (sscanf(line, "new-as %d", &a) == 1) new_worker_as(a);
  else if (strcmp(line, "new") == 0) new_worker();
  else if (sscanf(line, "pretend %d %llu %d", &a, &ticks, &c) == 3) pretend(a, ticks, c);
  else if (strcmp(line, "close-all") == 0) answer((int)syscall(SYS_close_range, 3, ~0u, 0));
  else if (strcmp(line, "fork") == 0) take_over(fork());
  else if (strcmp(line, "clone") == 0) take_over((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  else if (strcmp(line, "fork-twice") == 0) fork_twice();
  else if (strcmp(line, "exec") == 0) execv("/proc/self/exe", program), answer(-1);
  else if (strncmp(line, "become ", 7) == 0) execl("/bin/sh", "sh", "-c", line + 7, (char *)NULL), answer(-1);
  else dprintf(1, "unknown: %s\n", line);
}

static void hand_over(struct worker *worker, const char *line) {
  const int is_last = strncmp(line, "end", 3) == 0 || strncmp(line, "vanish", 6) == 0;
  pthread_mutex_lock(&worker->mutex);
  strcpy(worker->line, line);
  worker->has_line = 1;
  pthread_cond_broadcast(&worker->changed);
  while (!is_last && worker->has_line) pthread_cond_wait(&worker->changed, &worker->mutex);
  pthread_mutex_unlock(&worker->mutex);
  if (!is_last) return;
  // pthread_join returns a moment before the kernel forgets the thread.
  while (syscall(SYS_tgkill, getpid(), worker->tid, 0) == 0) sched_yield();
  dprintf(1, "ended\n");
}

static void serve(void) {
  char line[LINE];
  while (read_line(line)) {
    char *rest;
    long number = strtol(line, &rest, 10);
    while (*rest == ' ') rest++;
    if (number == 0) perform(rest);
    else if (number > 0 && number < worker_count) hand_over(&workers[number], rest);
    else dprintf(1, "no thread %ld\n", number);
  }
}

int main(int count, char **arguments) {
  (void)count;
  program = arguments;
  announce();
  serve();
  return 0;
}
