// What a hostile user does to the commands of others; see AdversaryTests.swift. Each mode says "ready" when its trap is set.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static void ready(void) {
  puts("ready");
  fflush(stdout);
}

static int listening(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  unlink(path);
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0) fail("bind");
  chmod(path, 0777);
  if (listen(listener, 16) != 0) fail("listen");
  return listener;
}

// Answers every request as a daemon would that ends, and names another process as itself.
static void serve(const char *path, const char *pid) {
  int listener = listening(path);
  ready();
  for (;;) {
    int connection = accept(listener, NULL, NULL);
    char request[4096], body[64];
    if (connection < 0) continue;
    if (read(connection, request, sizeof request) > 0) {
      snprintf(body, sizeof body, "{\"pid\":%s}", pid);
      dprintf(
          connection, "HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n\r\n%s",
          strlen(body), body);
    }
  }
}

// Takes connections and answers nothing.
static void hang(const char *path) {
  listening(path);
  ready();
  for (;;) pause();
}

// Answers every request with what a file holds then.
static void say(const char *path, const char *file) {
  int listener = listening(path);
  ready();
  for (;;) {
    int connection = accept(listener, NULL, NULL);
    char buffer[65536];
    if (connection < 0) continue;
    if (read(connection, buffer, sizeof buffer) > 0) {
      int answer = open(file, O_RDONLY);
      ssize_t count = answer < 0 ? -1 : read(answer, buffer, sizeof buffer);
      if (count > 0) send(connection, buffer, count, MSG_NOSIGNAL);
      close(answer);
    }
    close(connection);
  }
}

// Listens, and is connected to by as many as may wait for it: connect(2) of the next fails with EAGAIN.
static void full(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  listening(path);
  for (;;) {
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (connect(connection, (struct sockaddr *)&address, sizeof address) != 0) break;
  }
  if (errno != EAGAIN) fail("connect");
  ready();
  for (;;) pause();
}

// When somebody opens the pipe to read it, puts a link to another directory in the place of the one that holds it.
static void swap(const char *pipe, const char *directory, const char *target) {
  char away[4096];
  snprintf(away, sizeof away, "%s.away", directory);
  ready();
  int descriptor = open(pipe, O_WRONLY);
  if (descriptor < 0) fail("open");
  if (rename(directory, away) != 0 || symlink(target, directory) != 0) fail("rename");
  close(descriptor);
}

// Holds a file as a daemon holds its lock; hidden: without the record lock by which the kernel names the holder.
static void hold(const char *path, int hidden) {
  int descriptor = open(path, O_RDWR | O_CREAT, 0600);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) != 0) fail("flock");
  if (!hidden && fcntl(descriptor, F_SETLK, &lock) != 0) fail("lock");
  ready();
  for (;;) pause();
}

int main(int count, char **arguments) {
  if (count == 4 && strcmp(arguments[1], "serve") == 0) serve(arguments[2], arguments[3]);
  if (count == 3 && strcmp(arguments[1], "hang") == 0) hang(arguments[2]);
  if (count == 5 && strcmp(arguments[1], "swap") == 0) swap(arguments[2], arguments[3], arguments[4]);
  if (count == 3 && strcmp(arguments[1], "hold") == 0) hold(arguments[2], 0);
  if (count == 3 && strcmp(arguments[1], "hide") == 0) hold(arguments[2], 1);
  if (count == 4 && strcmp(arguments[1], "say") == 0) say(arguments[2], arguments[3]);
  if (count == 3 && strcmp(arguments[1], "full") == 0) full(arguments[2]);
  return 0;
}
