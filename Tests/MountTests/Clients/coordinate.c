// Coordinated accesses by libcdataless, as lines of standard input say; an answer is one line.
//   ask N FLAGS WITHIN r:PATH w:PATH...   asks under the number N, within the intent of number WITHIN, or 0: `N asked`
//   wait N      waits for the answer: `N granted MATERIALIZED`, or `N ERROR ERRNO`
//   look N      the same without waiting
//   end N       `N ended`, or the errno;   close N   closes the descriptor
//   present N PATH   `N presents`;   news N   waits for news: `N WHAT INTENT OTHERS PATH`;   answer N INTENT   `N answered`
//   save N INTENT PATH   asks to write PATH within INTENT, a number of the log, under the number N: `N asked`
//   exchange PATH PATH   two files change places: `exchanged`, or the errno
//   childend N  a child ends it by its copy of the descriptor: `N ended`
//   fork        a child that has all descriptors, and lives until it is killed: `forked PID`
// And by arguments:
//   count ROUNDS FILE   adds 1 to the number in FILE so many times, each time by a rename: under an intent
//   many COUNT r|w FILE...   asks for COUNT intents at once, for the files in turn, and gives each back when it has it
//   wide COUNT DIRECTORY     one intent for COUNT names that are not there
//   pour COUNT DIRECTORY     asks for COUNT such names at once, and gives up at once, again and again: `pours` after 400 times
//   order COUNT DIRECTORY FILE   asks for COUNT such names and FILE, and then for FILE: which of them is granted first
//   late SOCKET PID NAME FILE   connects to the daemon PID, and asks for NAME only when others wait to be taken up, and then
//                            on another connection for FILE, which is the same: which of them is granted first
//   turn COUNT PID FILE      asks for FILE until the daemon PID, which is stopped, has no room for more, and how long that
//                            was waited for; then COUNT times, while it goes on again a second later
//   crowd COUNT PATH         presents PATH COUNT times, until standard input ends: `presents`
//   flood COUNT DIRECTORY FILE   presents DIRECTORY, reads nothing while a child asks COUNT times for FILE, and then all:
//                            `read`, and the errno at its end
//   bad COUNT FILE           asks COUNT times within an intent that is not there: how many were refused so
//   alone PATH               the main thread ends, and another one asks for PATH: `granted`; then, after a line of standard
//                            input, gives it back: `end`, and the errno or 0
//   wrong PATH OUTSIDE       what is refused, and how
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cdataless.h"

enum { slots = 64 };

static int descriptors[slots];
static uint64_t intents[slots];

static void fail(const char *what) {
  printf("%s: %s\n", what, strerror(errno));
  exit(1);
}

static void wait_for(int descriptor) {
  struct pollfd look = {descriptor, POLLIN, 0};
  if (poll(&look, 1, 60000) != 1) fail("poll");
}

static void ask(int number, char *rest) {
  struct dataless_claim claims[slots];
  int flags = (int)strtol(strtok_r(NULL, " ", &rest), NULL, 10);
  int within = (int)strtol(strtok_r(NULL, " ", &rest), NULL, 10);
  size_t count = 0;
  for (char *word; (word = strtok_r(NULL, " ", &rest)) != NULL; count++) {
    claims[count].writes = word[0] == 'w';
    claims[count].path = word + 2;
  }
  descriptors[number] = dataless_coordinate_start(claims, count, flags, within == 0 ? 0 : intents[within]);
  if (descriptors[number] < 0) printf("%d refused %d\n", number, errno);
  else printf("%d asked\n", number);
}

static void say(int number) {
  struct dataless_coordination answer;
  if (dataless_coordinate_result(descriptors[number], &answer) == 0) {
    intents[number] = answer.intent;
    printf("%d granted %lld\n", number, (long long)answer.materialized);
  } else if (errno == EAGAIN) {
    printf("%d waits\n", number);
  } else {
    printf("%d %s %d\n", number, dataless_coordination_name(answer.code), errno);
    fprintf(stderr, "%s\n", answer.message);
  }
}

static void say_news(int number) {
  struct dataless_news news;
  for (;;) {
    wait_for(descriptors[number]);
    if (dataless_present_next(descriptors[number], &news) == 0) break;
    if (errno == EAGAIN) continue;
    printf("%d errno %d\n", number, errno);
    return;
  }
  printf("%d %d %llu %lld %s\n", number, news.what, (unsigned long long)news.intent, (long long)news.others, news.path);
}

static void follow(char *line) {
  char *rest = line;
  const char *verb = strtok_r(line, " ", &rest);
  const char *argument = strtok_r(NULL, " ", &rest);
  int number = argument == NULL ? 0 : (int)strtol(argument, NULL, 10);
  if (strcmp(verb, "ask") == 0) ask(number, rest);
  else if (strcmp(verb, "wait") == 0) wait_for(descriptors[number]), say(number);
  else if (strcmp(verb, "look") == 0) say(number);
  else if (strcmp(verb, "close") == 0) close(descriptors[number]), printf("%d closed\n", number);
  else if (strcmp(verb, "present") == 0) {
    descriptors[number] = dataless_present_start(rest);
    if (descriptors[number] < 0) printf("%d refused %d\n", number, errno);
    else printf("%d presents\n", number);
  } else if (strcmp(verb, "news") == 0) {
    say_news(number);
  } else if (strcmp(verb, "answer") == 0) {
    if (dataless_present_answer(descriptors[number], strtoull(rest, NULL, 10)) == 0) printf("%d answered\n", number);
    else printf("%d errno %d\n", number, errno);
  } else if (strcmp(verb, "save") == 0) {
    uint64_t outer = strtoull(strtok_r(NULL, " ", &rest), NULL, 10);
    const struct dataless_claim claim = {rest, 1};
    descriptors[number] = dataless_coordinate_start(&claim, 1, 0, outer);
    printf("%d %s\n", number, descriptors[number] < 0 ? "refused" : "asked");
  } else if (strcmp(verb, "end") == 0) {
    if (dataless_coordinate_end(descriptors[number]) == 0) printf("%d ended\n", number);
    else printf("%d %d\n", number, errno);
  } else if (strcmp(verb, "childend") == 0) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) _exit(dataless_coordinate_end(descriptors[number]) == 0 ? 0 : 1);
    waitpid(child, &status, 0);
    printf("%d %s\n", number, status == 0 ? "ended" : "failed");
  } else if (strcmp(verb, "exchange") == 0) {
    if (renameat2(AT_FDCWD, argument, AT_FDCWD, rest, RENAME_EXCHANGE) == 0) printf("exchanged\n");
    else printf("errno %d\n", errno);
  } else if (strcmp(verb, "fork") == 0) {
    int child = fork();
    if (child == 0) {
      close(STDOUT_FILENO);
      for (;;) pause();
    }
    printf("forked %d\n", child);
  }
}

static uint64_t take(const struct dataless_claim *claims, size_t count, int flags, int *descriptor) {
  struct dataless_coordination answer;
  *descriptor = dataless_coordinate_start(claims, count, flags, 0);
  if (*descriptor < 0) fail("start");
  wait_for(*descriptor);
  if (dataless_coordinate_result(*descriptor, &answer) != 0) fail(dataless_coordination_name(answer.code));
  return answer.intent;
}

static int count_up(int rounds, const char *path) {
  char temporary[4096];
  snprintf(temporary, sizeof temporary, "%s.%d", path, (int)getpid());
  const struct dataless_claim claim = {path, 1};
  for (int round = 0; round < rounds; round++) {
    int descriptor;
    take(&claim, 1, 0, &descriptor);
    FILE *file = fopen(path, "r");
    long number = -1;
    if (file == NULL || fscanf(file, "%ld", &number) != 1) fail("read");
    fclose(file);
    file = fopen(temporary, "w");
    if (file == NULL) fail("open");
    fprintf(file, "%ld\n", number + 1);
    if (fclose(file) != 0 || rename(temporary, path) != 0) fail("write");
    if (dataless_coordinate_end(descriptor) != 0) fail("end");
  }
  printf("counted\n");
  return 0;
}

static void raise_limit(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

static int ask_for_many(int count, int writes, char **paths, int path_count) {
  raise_limit();
  struct pollfd *looks = calloc((size_t)count, sizeof *looks);
  for (int index = 0; index < count; index++) {
    const struct dataless_claim claim = {paths[index % path_count], writes};
    looks[index].fd = dataless_coordinate_start(&claim, 1, 0, 0);
    looks[index].events = POLLIN;
    if (looks[index].fd < 0) fail("start");
  }
  int left = count, disorder = 0;
  uint64_t last = 0;
  while (left > 0) {
    int ready = poll(looks, (nfds_t)count, 60000);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) fail("poll");
    for (int index = 0; index < count; index++) {
      if (looks[index].fd < 0 || looks[index].revents == 0) continue;
      struct dataless_coordination answer;
      if (dataless_coordinate_result(looks[index].fd, &answer) != 0) fail(dataless_coordination_name(answer.code));
      if (answer.intent < last) disorder++;
      last = answer.intent;
      if (dataless_coordinate_end(looks[index].fd) != 0) fail("end");
      looks[index].fd = -1;
      left--;
    }
  }
  printf("all %d disorder %d\n", count, path_count == 1 ? disorder : 0);
  return 0;
}

static pid_t daemon_pid;

static void go_on(int number) {
  (void)number;
  kill(daemon_pid, SIGCONT);
}

static int wait_for_turns(int count, char **paths) {
  const struct sigaction action = {.sa_handler = go_on};
  const struct dataless_claim claim = {paths[0], 0};
  static int fds[1 << 15];
  int asked = 0;
  struct timespec before, after;
  kill(daemon_pid, SIGSTOP);
  do {
    clock_gettime(CLOCK_MONOTONIC, &before);
    fds[asked] = dataless_coordinate_start(&claim, 1, 0, 0);
  } while (fds[asked] >= 0 && ++asked < 1 << 15);
  int error = errno;
  clock_gettime(CLOCK_MONOTONIC, &after);
  const double waited = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
  printf("full %d after %s\n", error, waited < 1.9 ? "less" : "2 s");
  while (asked > 0) close(fds[--asked]);
  kill(daemon_pid, SIGCONT);
  // In the middle of a wait: a signal does not end it.
  sigaction(SIGALRM, &action, NULL);
  kill(daemon_pid, SIGSTOP);
  alarm(1);
  return ask_for_many(count, 0, paths, 1);
}

static struct dataless_claim *make_claims(int count, const char *directory) {
  struct dataless_claim *claims = calloc((size_t)count, sizeof *claims);
  for (int index = 0; index < count; index++) {
    char *path = malloc(strlen(directory) + 32);
    sprintf(path, "%s/name-%06d", directory, index);
    claims[index] = (struct dataless_claim){path, 1};
  }
  return claims;
}

static int pour(int count, const char *directory) {
  const struct dataless_claim *claims = make_claims(count, directory);
  for (int round = 1; round < 1 << 24; round++) {
    close(dataless_coordinate_start(claims, (size_t)count, 0, 0));
    if (round == 400) printf("pours\n");
  }
  return 0;
}

static int tell_first(int one, int other) {
  struct pollfd looks[] = {{one, POLLIN, 0}, {other, POLLIN, 0}};
  if (poll(looks, 2, 60000) < 1) fail("poll");
  printf("%s\n", looks[1].revents == 0 ? "the first" : "the second");
  return 0;
}

static int ask_in_order(int count, const char *directory, const char *path) {
  const struct dataless_claim claim = {path, 1};
  struct dataless_claim *claims = make_claims(count, directory);
  claims[count - 1] = claim;
  int first = dataless_coordinate_start(claims, (size_t)count, 0, 0);
  int second = dataless_coordinate_start(&claim, 1, 0, 0);
  if (first < 0 || second < 0) fail("start");
  return tell_first(first, second);
}

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) fail("path");
  strcpy(address.sun_path, path);
  int descriptor = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
  return descriptor;
}

static int ask_late(const char *socket_path, pid_t daemon, char **names) {
  struct {
    uint32_t magic;
    uint16_t version, flags;
    uint32_t count, bytes;
    uint64_t within, memory;
    char text[256];
  } request = {0x31636c64, 1, 0, 1, (uint32_t)strlen(names[0]) + 2, 0, 0, "w"};
  const struct dataless_claim claim = {names[1], 1};
  const struct timespec while_it_acts = {0, 200000000};
  strncat(request.text, names[0], sizeof request.text - 2);
  int first = connect_to(socket_path);
  nanosleep(&while_it_acts, NULL);
  kill(daemon, SIGSTOP);
  nanosleep(&while_it_acts, NULL);
  connect_to(socket_path);
  if (send(first, &request, 32 + request.bytes, MSG_NOSIGNAL) < 0) fail("send");
  int second = dataless_coordinate_start(&claim, 1, 0, 0);
  kill(daemon, SIGCONT);
  if (second < 0) fail("start");
  return tell_first(first, second);
}

static int ask_widely(int count, const char *directory) {
  const struct dataless_claim *claims = make_claims(count, directory);
  struct dataless_coordination answer;
  int descriptor = dataless_coordinate_start(claims, (size_t)count, 0, 0);
  if (descriptor < 0) fail("start");
  wait_for(descriptor);
  if (dataless_coordinate_result(descriptor, &answer) == 0) printf("granted\n");
  else printf("%s %d\n", dataless_coordination_name(answer.code), errno);
  return 0;
}

static int present_often(int count, const char *path) {
  raise_limit();
  for (int index = 0; index < count; index++)
    if (dataless_present_start(path) < 0) fail("present");
  printf("presents\n");
  while (getchar() != EOF) continue;
  return 0;
}

static int leave_unread(int count, const char *directory, const char *path) {
  // Readers do not wait for each other: the presenter is asked for each of them.
  const struct dataless_claim claim = {path, 0};
  int presenter = dataless_present_start(directory);
  if (presenter < 0) fail("present");
  wait_for(presenter);
  int ends[2];
  if (pipe(ends) != 0) fail("pipe");
  pid_t child = fork();
  if (child == 0) {
    raise_limit();
    for (int index = 0; index < count; index++) dataless_coordinate_start(&claim, 1, 0, 0);
    // Nobody is asked for this one, and it is answered when the others have been taken up.
    wait_for(dataless_coordinate_start(&claim, 1, DATALESS_COORDINATE_METADATA_ONLY, 0));
    // Questions of intents that have ended are taken back: they are kept until the presenter has read.
    if (write(ends[1], "", 1) == 1) pause();
    _exit(0);
  }
  char byte;
  if (read(ends[0], &byte, 1) != 1) fail("read");
  struct dataless_news news;
  do {
    wait_for(presenter);
    while (dataless_present_next(presenter, &news) == 0) continue;
  } while (errno == EAGAIN);
  printf("read %d\n", errno);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return 0;
}

static int ask_badly(int count, const char *path) {
  const struct dataless_claim claim = {path, 0};
  struct dataless_coordination answer;
  int refused = 0;
  for (int index = 0; index < count; index++) {
    int descriptor = dataless_coordinate_start(&claim, 1, 0, 999999999);
    if (descriptor < 0) fail("start");
    wait_for(descriptor);
    dataless_coordinate_result(descriptor, &answer);
    refused += answer.code == DATALESS_COORDINATION_OUTER_NOT_HELD;
    close(descriptor);
  }
  printf("refused %d\n", refused);
  return 0;
}

static pthread_t main_thread;

static void *use_alone(void *path) {
  const struct dataless_claim claim = {path, 1};
  // Joined a moment before the kernel has done with it.
  const struct timespec moment = {0, 100000000};
  int descriptor;
  pthread_join(main_thread, NULL);
  nanosleep(&moment, NULL);
  take(&claim, 1, 0, &descriptor);
  printf("granted\n");
  while (getchar() != '\n') continue;
  printf("end %d\n", dataless_coordinate_end(descriptor) == 0 ? 0 : errno);
  exit(0);
}

static int leave_alone(char *path) {
  pthread_t other;
  main_thread = pthread_self();
  if (pthread_create(&other, NULL, use_alone, path) != 0) fail("thread");
  pthread_exit(NULL);
}

static void expect(const char *what, int error, int result) {
  printf("%s %s\n", what, result == -1 && errno == error ? "ok" : strerror(errno));
}

static int refuse(const char *path, const char *outside) {
  const struct dataless_claim claims[] = {{path, 0}, {outside, 0}, {NULL, 0}};
  struct dataless_coordination answer;
  expect("null", EFAULT, dataless_coordinate_start(NULL, 1, 0, 0));
  expect("null-path", EFAULT, dataless_coordinate_start(claims + 2, 1, 0, 0));
  expect("none", EINVAL, dataless_coordinate_start(claims, 0, 0, 0));
  expect("flags", EINVAL, dataless_coordinate_start(claims, 1, 32, 0));
  expect("outside", ENODATA, dataless_coordinate_start(claims + 1, 1, 0, 0));
  expect("both", ENODATA, dataless_coordinate_start(claims, 2, 0, 0));
  expect("no-room", EFAULT, dataless_coordinate_result(0, NULL));
  expect("closed", EBADF, dataless_coordinate_result(-1, &answer));
  expect("closed-end", EBADF, dataless_coordinate_end(-1));
  int other[2];
  if (pipe(other) != 0) fail("pipe");
  expect("pipe", EINVAL, dataless_coordinate_result(other[0], &answer));
  expect("pipe-end", EINVAL, dataless_coordinate_end(other[0]));
  errno = 77;
  int descriptor;
  take(claims, 1, 0, &descriptor);
  expect("held", EAGAIN, dataless_coordinate_result(descriptor, &answer));
  errno = 77;
  int result = dataless_coordinate_end(descriptor);
  printf("end %d errno %d\n", result, errno);
  return 0;
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc == 4 && strcmp(argv[1], "count") == 0) return count_up((int)strtol(argv[2], NULL, 10), argv[3]);
  if (argc >= 5 && strcmp(argv[1], "many") == 0)
    return ask_for_many((int)strtol(argv[2], NULL, 10), argv[3][0] == 'w', argv + 4, argc - 4);
  if (argc == 5 && strcmp(argv[1], "turn") == 0) {
    raise_limit();
    daemon_pid = (pid_t)strtol(argv[3], NULL, 10);
    return wait_for_turns((int)strtol(argv[2], NULL, 10), argv + 4);
  }
  if (argc == 4 && strcmp(argv[1], "wide") == 0) return ask_widely((int)strtol(argv[2], NULL, 10), argv[3]);
  if (argc == 4 && strcmp(argv[1], "pour") == 0) return pour((int)strtol(argv[2], NULL, 10), argv[3]);
  if (argc == 5 && strcmp(argv[1], "order") == 0)
    return ask_in_order((int)strtol(argv[2], NULL, 10), argv[3], argv[4]);
  if (argc == 6 && strcmp(argv[1], "late") == 0)
    return ask_late(argv[2], (pid_t)strtol(argv[3], NULL, 10), argv + 4);
  if (argc == 4 && strcmp(argv[1], "crowd") == 0) return present_often((int)strtol(argv[2], NULL, 10), argv[3]);
  if (argc == 5 && strcmp(argv[1], "flood") == 0) return leave_unread((int)strtol(argv[2], NULL, 10), argv[3], argv[4]);
  if (argc == 4 && strcmp(argv[1], "bad") == 0) return ask_badly((int)strtol(argv[2], NULL, 10), argv[3]);
  if (argc == 3 && strcmp(argv[1], "alone") == 0) return leave_alone(argv[2]);
  if (argc == 4 && strcmp(argv[1], "wrong") == 0) return refuse(argv[2], argv[3]);
  char line[8192];
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = 0;
    follow(line);
  }
  return 0;
}
