// A file manager shows photos: it may read them, and nothing else, and its window must not wait for any.
//
// Output is TAP; the exit status is 1 if something was not as expected. Needs libcdataless and the command `dataless`.
#include <cdataless.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dataless[PATH_MAX], manager[PATH_MAX], example[PATH_MAX];
static char folder[] = "/tmp/dataless-c-XXXXXX", volume[PATH_MAX], logfile[PATH_MAX];
static int number, failures, is_mounted;

static void stop(const char *what) {
  printf("Bail out! %s: %s\n", what, strerror(errno));
  exit(2);
}

static void format(char text[PATH_MAX], const char *words, ...) {
  va_list values;
  va_start(values, words);
  int length = vsnprintf(text, PATH_MAX, words, values);
  va_end(values);
  if (length < 0 || length >= PATH_MAX) stop("a path is too long");
}

static int expect(int holds, const char *what) {
  printf("%sok %d - %s\n", holds ? "" : "not ", ++number, what);
  failures += !holds;
  fflush(stdout);
  return holds;
}

// Starts a program whose output goes to a file, or to nowhere.
static pid_t start(const char *output, char *const words[]) {
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) stop("fork");
  if (child > 0) return child;
  int file = open(output ? output : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || dup2(file, 1) < 0) _exit(126);
  if (output && dup2(file, 2) < 0) _exit(126);
  execvp(words[0], words);
  _exit(127);
}

static int ended_well(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) stop("waitpid");
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int run(const char *output, ...) {
  char *words[16];
  va_list rest;
  va_start(rest, output);
  int count = 0;
  while (count < 15 && (words[count] = va_arg(rest, char *))) count++;
  words[count] = NULL;
  va_end(rest);
  return ended_well(start(output, words));
}

// What a program said, as diagnostics.
static void show(const char *output) {
  char line[1024];
  FILE *file = fopen(output, "r");
  while (file && fgets(line, sizeof line, file)) printf("# %s", line);
  if (file) fclose(file);
}

// The volume ends with this process, however that ends.
static void mount_volume(const char *scenario) {
  char fixtures[PATH_MAX], rules[PATH_MAX], said[PATH_MAX], us[32];
  format(fixtures, "%s/fixtures", example);
  format(rules, "%s/%s", example, scenario);
  format(said, "%s/said", folder);
  snprintf(us, sizeof us, "%d", (int)getpid());
  unlink(logfile);
  if (!run(said, dataless, "mount", "--scenario", rules, "--log", logfile, "--ends-with", us, fixtures, volume, NULL)) {
    show(said);
    stop("the volume cannot be mounted");
  }
  is_mounted = 1;
}

static void unmount_volume(void) {
  if (is_mounted && !run(NULL, dataless, "unmount", volume, NULL)) stop("the volume cannot be unmounted");
  is_mounted = 0;
}

static int is_dataless(const char *path) {
  char item[PATH_MAX];
  uint32_t flags;
  format(item, "%s/%s", volume, path);
  if (dataless_get_flags(item, &flags) != 0) stop(item);
  return (flags & SF_DATALESS) != 0;
}

static void reads_photos_alone(void) {
  char rules[PATH_MAX], said[PATH_MAX];
  format(rules, "%s/expected.yaml", example);
  format(said, "%s/said", folder);
  mount_volume("expected.yaml");
  expect(run(NULL, manager, volume, NULL), "shows a folder");
  expect(!is_dataless("photos/a.jpg") && !is_dataless("photos/b.jpg"), "reads photos");
  expect(is_dataless("photos/notes.txt"), "reads nothing but photos");
  unmount_volume();
  if (!expect(run(said, dataless, "check-log", logfile, "--expect", rules, NULL), "does not wait in its main thread"))
    show(said);
}

static void shows_names_while_photos_are_on_their_way(void) {
  char said[PATH_MAX], shown[PATH_MAX], *const show_photos[] = {manager, volume, NULL};
  format(said, "%s/said", folder);
  format(shown, "%s/shown", folder);
  mount_volume("held.yaml");
  pid_t running = start(shown, show_photos);
  expect(run(said, dataless, "gate", "wait", volume, "photos", "--callers", "1", "--timeout", "20s", NULL),
         "wants a photo");
  expect(is_dataless("photos/a.jpg"), "the photo is not there yet");
  if (!expect(run(said, dataless, "stack", volume, NULL) && !run(NULL, "grep", "-q", "main thread", said, NULL),
              "shows names meanwhile"))
    show(said);
  run(NULL, dataless, "gate", "open", volume, "photos", NULL);
  expect(ended_well(running), "ends when the photos are there");
  unmount_volume();
}

static void clean_up(void) {
  unmount_volume();
  for (const char **name = (const char *[]){"said", "shown", "log", NULL}; *name; name++) {
    char path[PATH_MAX];
    format(path, "%s/%s", folder, *name);
    unlink(path);
  }
  rmdir(volume);
  rmdir(folder);
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: test-filemanager EXAMPLE MANAGER\n");
    return 2;
  }
  format(dataless, "%s", getenv("DATALESS") ? getenv("DATALESS") : "dataless");
  format(example, "%s", arguments[1]);
  format(manager, "%s", arguments[2]);
  if (!mkdtemp(folder)) stop("mkdtemp");
  format(volume, "%s/volume", folder);
  format(logfile, "%s/log", folder);
  if (mkdir(volume, 0700) != 0) stop(volume);
  atexit(clean_up);
  reads_photos_alone();
  shows_names_while_photos_are_on_their_way();
  printf("1..%d\n", number);
  return failures ? 1 : 0;
}
