// Programs that wait for content: one with a main thread that must not, and one that is interrupted.
#include "probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>

static const char *worker_path;

static void *work(void *context) {
  (void)context;
  char byte;
  int fd = open(worker_path, O_RDONLY | O_CLOEXEC);
  ssize_t got = read(fd, &byte, 1);
  printf("thread=worker outcome=%s\n", outcome(got, errno));
  fflush(stdout);
  return NULL;
}

// gui MAIN WORKER: like a program with a window that reads one file in a thread, as it should, and another one in its main
// thread, as it should not.
int command_gui(int count, char **arguments) {
  (void)count;
  pthread_t thread;
  char byte;
  worker_path = arguments[1];
  pthread_create(&thread, NULL, work, NULL);
  int fd = open(arguments[0], O_RDONLY | O_CLOEXEC);
  ssize_t got = read(fd, &byte, 1);
  printf("thread=main outcome=%s\n", outcome(got, errno));
  fflush(stdout);
  pthread_join(thread, NULL);
  return 0;
}

static volatile sig_atomic_t restarting, others;
static void count_restarting(int signal) {
  (void)signal;
  restarting++;
}
static void count_other(int signal) {
  (void)signal;
  others++;
}

// interrupted PATH...: reads each file with handlers for SIGUSR1 (with SA_RESTART) and SIGUSR2 (without), again after each EINTR.
int command_interrupted(int count, char **arguments) {
  struct sigaction restart = {.sa_handler = count_restarting, .sa_flags = SA_RESTART};
  struct sigaction plain = {.sa_handler = count_other};
  sigaction(SIGUSR1, &restart, NULL);
  sigaction(SIGUSR2, &plain, NULL);
  for (int i = 0; i < count; i++) {
    char buffer[4096];
    int fd = open(arguments[i], O_RDONLY | O_CLOEXEC);
    ssize_t got;
    int error;
    do {
      got = pread(fd, buffer, sizeof buffer, 0);
      error = errno;
      printf("file=%d bytes=%zd outcome=%s restarting=%d others=%d\n", i, got, outcome(got, error), (int)restarting,
             (int)others);
      fflush(stdout);
    } while (got < 0 && error == EINTR);
    close(fd);
  }
  return 0;
}

// trace PID: a debugger that lets a process run, and keeps it after its end until our standard input is closed.
int command_trace(int count, char **arguments) {
  (void)count;
  if (ptrace(PTRACE_SEIZE, atoi(arguments[0]), NULL, NULL) != 0) {
    printf("outcome=%s\n", outcome(-1, errno));
    return 1;
  }
  announce("traced");
  wait_for_harness();
  return 0;
}
