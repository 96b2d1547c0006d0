// What libcdataless materializes in the background, and that its caller never waits. One line for each path:
// `<errno> <path>`, after what the subcommand says of itself.
//   all|stop PATH...     waits by poll(2) for the result, with or without DATALESS_MATERIALIZE_GO_ON
//   begin PATH...        says `begun`, waits for a line on standard input, and then as `all`
//   cancel PATH...       closes the descriptor when a line has come, and says `closed` when the next has
//   fork PATH...         as `begin`, but a child process asks for the result
//   wrong PATH           what is refused, and how
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cdataless.h"

static void fail(const char *what) {
  printf("%s: %s\n", what, strerror(errno));
  exit(1);
}

static void wait_for_line(void) {
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') {}
}

static void expect(const char *what, int error, int result) {
  printf("%s %s\n", what, result == -1 && errno == error ? "ok" : strerror(errno));
}

static int say_result(int descriptor, char **paths, int count) {
  int *errors = calloc((size_t)count, sizeof *errors);
  struct pollfd look = {descriptor, POLLIN, 0};
  // The library has all signals for others, and never waits itself.
  if (poll(&look, 1, 30000) != 1) fail("poll");
  int failed = dataless_materialize_result(descriptor, errors, (size_t)count);
  if (failed < 0) fail("result");
  printf("failed %d\n", failed);
  for (int index = 0; index < count; index++) printf("%d %s\n", errors[index], paths[index]);
  expect("again", ENODATA, dataless_materialize_result(descriptor, errors, (size_t)count));
  free(errors);
  close(descriptor);
  return 0;
}

static int refuse(char *path) {
  const char *const paths[] = {path, NULL};
  int error = 0;
  expect("null", EFAULT, dataless_materialize_start(NULL, 1, 0));
  expect("null-path", EFAULT, dataless_materialize_start(paths, 2, 0));
  expect("none", EINVAL, dataless_materialize_start(paths, 0, 0));
  expect("many", EINVAL, dataless_materialize_start(paths, (1 << 20) + 1, 0));
  expect("flags", EINVAL, dataless_materialize_start(paths, 1, 2));
  expect("closed", EBADF, dataless_materialize_result(-1, &error, 1));
  int other[2];
  if (pipe(other) != 0) fail("pipe");
  expect("pipe", EINVAL, dataless_materialize_result(other[0], &error, 1));
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, other) != 0 || write(other[1], "0123456789", 10) != 10) fail("socketpair");
  expect("stranger", EINVAL, dataless_materialize_result(other[0], &error, 1));
  int descriptor = dataless_materialize_start(paths, 1, 0);
  printf("exec %s\n", (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0 ? "ok" : "inherited");
  struct pollfd look = {descriptor, POLLIN, 0};
  if (poll(&look, 1, 30000) != 1) fail("poll");
  expect("count", EINVAL, dataless_materialize_result(descriptor, &error, 2));
  expect("no-room", EFAULT, dataless_materialize_result(descriptor, NULL, 1));
  errno = 77;
  int failed = dataless_materialize_result(descriptor, &error, 1);
  printf("result %d %d errno %d\n", failed, error, errno);
  return close(descriptor);
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  const char *what = arguments[1];
  char **paths = arguments + 2;
  count -= 2;
  if (strcmp(what, "wrong") == 0) return refuse(paths[0]);
  int flags = strcmp(what, "stop") == 0 ? 0 : DATALESS_MATERIALIZE_GO_ON;
  int descriptor = dataless_materialize_start((const char *const *)paths, (size_t)count, flags);
  if (descriptor < 0) fail("start");
  if (strcmp(what, "all") == 0 || strcmp(what, "stop") == 0) return say_result(descriptor, paths, count);
  int error = 0;
  expect("begun", EAGAIN, dataless_materialize_result(descriptor, &error, (size_t)count));
  wait_for_line();
  if (strcmp(what, "cancel") == 0) {
    close(descriptor);
    printf("closed\n");
    wait_for_line();
    return 0;
  }
  if (strcmp(what, "fork") != 0) return say_result(descriptor, paths, count);
  pid_t child = fork();
  if (child == 0) _exit(say_result(descriptor, paths, count));
  int status = 0;
  waitpid(child, &status, 0);
  int *errors = calloc((size_t)count, sizeof *errors);
  expect("parent", ENODATA, dataless_materialize_result(descriptor, errors, (size_t)count));
  free(errors);
  return status;
}
