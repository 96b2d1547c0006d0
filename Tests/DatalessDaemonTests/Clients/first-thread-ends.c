// A program whose first thread ends while another one goes on. That one opens the files in its arguments for writing at
// their end, prints its own thread id once the first one is a zombie, and waits for a line on standard input.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int first_thread_has_ended(void) {
  char path[64], text[256];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t count = descriptor < 0 ? -1 : read(descriptor, text, sizeof text - 1);
  if (descriptor >= 0) close(descriptor);
  if (count <= 0) return 0;
  text[count] = 0;
  const char *end_of_name = strrchr(text, ')');
  return end_of_name != NULL && strncmp(end_of_name, ") Z", 3) == 0;
}

static void *go_on(void *files) {
  for (char **file = files; *file != NULL; file++) {
    if (open(*file, O_WRONLY | O_APPEND) < 0) exit(1);
  }
  while (!first_thread_has_ended()) sched_yield();
  printf("%d\n", (int)syscall(SYS_gettid));
  fflush(stdout);
  while (getchar() != '\n' && !feof(stdin)) continue;
  exit(0);
}

int main(int count, char **arguments) {
  pthread_t thread;
  if (count < 1 || pthread_create(&thread, NULL, go_on, arguments + 1) != 0) return 1;
  pthread_exit(NULL);
}
