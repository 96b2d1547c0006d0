// The commands of a race: eviction and materialization by the control API, without the start of a program for each.
#include "race.h"

#include <sys/socket.h>
#include <sys/un.h>

// One request to the control server, and its whole answer. - Returns: 0, or an errno.
static int request(const struct race *race, const char *call, const char *path, char *answer, size_t size) {
  char text[512], body[256];
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", race->socket);
  snprintf(body, sizeof body, "{\"paths\":[{\"path\":\"%s\"}]}", path);
  int length = snprintf(text, sizeof text,
                        "POST /v1/%s HTTP/1.1\r\nHost: dataless\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
                        call, strlen(body), body);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  int error = 0;
  if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
      send(fd, text, (size_t)length, MSG_NOSIGNAL) != length)
    error = errno;
  size_t filled = 0;
  for (ssize_t got; !error && filled < size - 1; filled += (size_t)got) {
    got = read(fd, answer + filled, size - 1 - filled);
    if (got < 0) error = errno;
    if (got <= 0) break;
  }
  answer[filled] = 0;
  close(fd);
  return error;
}

static long number(const char *answer, const char *key) {
  const char *result = strstr(answer, "\"result\""), *found = result ? strstr(result, key) : NULL;
  return found ? atol(found + strlen(key)) : -1;
}

// The first errno of a refusal for another reason than that the item is in use. - Returns: 0 if there is none.
static int other(const char *result, char *name, size_t size) {
  const char *key = "\"errno\":\"";
  for (const char *at = strstr(result, key); at; at = strstr(at + 1, key)) {
    snprintf(name, size, "%.*s", (int)strcspn(at + strlen(key), "\""), at + strlen(key));
    if (strcmp(name, "EBUSY") != 0) return 1;
  }
  return 0;
}

// Several evictors for one that materializes: what is read comes in by itself.
void race_command(struct race_worker *worker) {
  static char answer[1 << 16];
  struct race *race = worker->race;
  int evicts = worker->index != 0;
  while (!atomic_load(&race->shared->stop)) {
    // Mostly what the readers have just left: what they are at is refused after a while.
    uint64_t back = race_random(worker) % (race_random(worker) % 4 ? 12 : (uint64_t)race->file_count);
    const struct race_file *file = &race->files[(race_meeting() - back) % (uint64_t)race->file_count];
    const char *path = race_random(worker) % 16 ? file->name : "";
    int error = request(race, evicts ? "evict" : "materialize", path, answer, sizeof answer);
    const char *result = strstr(answer, "\"result\"");
    long files = number(answer, "\"files\":");
    if (error || !result || files < 0) {
      // A server that goes away in the midst of its answer.
      race_error(worker, file, evicts ? "evict" : "materialize", error ? error : EPIPE);
    } else if (evicts) {
      race_add(worker, EVICTIONS, files);
      long refused = number(answer, "\"failure_count\":");
      char name[32] = "cut off", what[64];
      if (refused < 0 || other(result, name, sizeof name)) {
        snprintf(what, sizeof what, "evict (%s)", name);
        race_error(worker, file, what, EPROTO);
      }
      race_add(worker, EVICTIONS_REFUSED, refused > 0 ? refused : 0);
    } else {
      race_add(worker, MATERIALIZATIONS, files);
      if (number(answer, "\"failure_count\":") > 0) race_error(worker, file, "materialize", EIO);
      usleep(20000);
    }
    usleep((useconds_t)(race_random(worker) % 4000));
  }
}
