// writing DIRECTORY [GROUP]: all checks, or those of a group, each in a directory of its own.
// writing DIRECTORY copy FROM TO: copies the first five bytes of a file to place 3 of another.
#include "writing.h"

static const char *name, *problem;
static char text[400];

static void finish(void) {
  if (name) printf("check=%s outcome=%s\n", name, problem ? problem : "ok");
  problem = NULL;
}

void check(const char *new_name) {
  finish();
  name = new_name;
}

void holds(int condition, const char *what, int line) {
  if (condition || problem) return;
  int error = errno;
  snprintf(text, sizeof text, "line_%d:_%s_(%s)", line, what, strerrorname_np(error) ? strerrorname_np(error) : "?");
  for (char *at = text; *at; at++)
    if (*at == ' ' || *at == '\n' || *at == '=') *at = *at == '=' ? '~' : '_';
  problem = text;
}

void fails(long result, int error, int wanted, const char *what, int line) {
  errno = error;
  holds(result < 0 && error == wanted, what, line);
}

void put(const char *file, const char *content) {
  int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  HOLDS(fd >= 0);
  HOLDS(write(fd, content, strlen(content)) == (ssize_t)strlen(content));
  HOLDS(close(fd) == 0);
}

int has(const char *file, const char *content) {
  char buffer[4096];
  int fd = open(file, O_RDONLY);
  if (fd < 0) return 0;
  ssize_t count = read(fd, buffer, sizeof buffer);
  close(fd);
  return count == (ssize_t)strlen(content) && memcmp(buffer, content, (size_t)count) == 0;
}

struct stat status(const char *file) {
  struct stat s;
  memset(&s, 0, sizeof s);
  HOLDS(lstat(file, &s) == 0);
  return s;
}

int main(int count, char **arguments) {
  static const struct {
    const char *name;
    void (*run)(void);
  } groups[] = {
      {"names", check_names},       {"renames", check_renames}, {"listing", check_listing},
      {"data", check_data},         {"space", check_space},     {"maps", check_maps},
      {"lifetime", check_lifetime}, {"attributes", check_attributes}, {"times", check_times},
      {"extended", check_extended}, {"lists", check_lists},     {"locks", check_locks},
      {"large", check_large},
  };
  if (count < 2 || chdir(arguments[1]) < 0) return 2;
  umask(022);
  if (count == 5 && !strcmp(arguments[2], "copy")) {
    int from = open(arguments[3], O_RDONLY), to = open(arguments[4], O_WRONLY);
    off_t start = 0, place = 3;
    return copy_file_range(from, &start, to, &place, 5, 0) == 5 && close(to) == 0 ? 0 : 1;
  }
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    if (count > 2 && strcmp(arguments[2], groups[i].name)) continue;
    if (mkdir(groups[i].name, 0755) < 0 || chdir(groups[i].name) < 0) return 3;
    groups[i].run();
    finish();
    name = NULL;
    if (chdir("..") < 0) return 3;
    fflush(stdout);
  }
  return 0;
}
