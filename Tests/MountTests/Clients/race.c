// Many processes that use one volume in every way at once while its content comes and goes, with every byte compared.
#include "race.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char *const names[RACE_COUNTS] = {
    [READS] = "reads", [PREADS] = "preads", [DIRECT_READS] = "direct_reads", [SHARED_MAPS] = "shared_maps",
    [PRIVATE_MAPS] = "private_maps", [KEPT_MAPS] = "kept_maps", [SENDFILES] = "sendfiles", [SPLICES] = "splices",
    [EXECS] = "execs", [KEPT_HANDLES] = "kept_handles", [BYTES] = "bytes", [EVICTIONS] = "evictions",
    [EVICTIONS_REFUSED] = "evictions_refused", [MATERIALIZATIONS] = "materializations", [KILLS] = "kills",
};

// splitmix64: each worker has its own sequence, from the seed and its number.
uint64_t race_random(struct race_worker *worker) {
  uint64_t value = worker->random += 0x9e3779b97f4a7c15ULL;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ value >> 27) * 0x94d049bb133111ebULL;
  return value ^ value >> 31;
}

uint64_t race_meeting(void) { return (uint64_t)now_ns() / 60000000 * 2; }

void race_add(struct race_worker *worker, enum race_count count, long amount) {
  atomic_fetch_add(&worker->race->shared->counts[count], amount);
}

static void fail(struct race_worker *worker, const char *format, ...) {
  struct race_shared *shared = worker->race->shared;
  if (atomic_fetch_add(&shared->failures, 1)) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(shared->failure, sizeof shared->failure, format, arguments);
  va_end(arguments);
}

void race_error(struct race_worker *worker, const struct race_file *file, const char *what, int error) {
  struct race_shared *shared = worker->race->shared;
  int allowed = error == 0 || error == ETIMEDOUT || error == ENOTCONN || error == EIO || error == ECONNABORTED ||
                error == ENOENT || error == ECONNREFUSED || error == ECONNRESET || error == EPIPE;
  if (atomic_load(&shared->ending) && allowed) {
    atomic_fetch_add(&shared->errors[error], 1);
    usleep(2000);
    return;
  }
  fail(worker, "worker %d: %s of %s: %s", worker->index, what, file ? file->name : "the volume",
       error ? outcome(-1, error) : "SIGBUS");
}

void race_wrong(struct race_worker *worker, const struct race_file *file, const char *what, int64_t offset) {
  fail(worker, "worker %d: %s of %s: wrong at %lld of %lld", worker->index, what, file->name, (long long)offset,
       (long long)file->size);
}

static int load(struct race *race) {
  DIR *directory = opendir(race->source);
  for (struct dirent *entry; directory && (entry = readdir(directory));) {
    struct race_file *file = &race->files[race->file_count];
    char path[4096];
    struct stat attributes;
    if (entry->d_name[0] == '.' || race->file_count == 64) continue;
    if (strlen(entry->d_name) >= sizeof file->name) return 0;
    strcpy(file->name, entry->d_name);
    snprintf(path, sizeof path, "%s/%s", race->source, entry->d_name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &attributes) < 0 || attributes.st_size == 0) return 0;
    file->size = attributes.st_size;
    file->content = mmap(NULL, (size_t)file->size, PROT_READ, MAP_SHARED, fd, 0);
    file->is_program = (attributes.st_mode & 0111) != 0;
    if (file->content == MAP_FAILED) return 0;
    close(fd);
    race->file_count++;
  }
  if (directory) closedir(directory);
  return race->file_count > 0;
}

// The first `commands` workers evict and materialize, the others read.
static pid_t start(struct race *race, int index, int commands, int generation) {
  pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct race_worker worker = {.race = race, .index = index};
  worker.random = race->seed + (uint64_t)index * 0x10000 + (uint64_t)generation;
  if (index < commands)
    race_command(&worker);
  else
    race_read(&worker);
  _exit(0);
}

// Waits for the rest; who does not end within 10 s hangs in the kernel or on the volume.
static int collect(pid_t *workers, int count) {
  int left = count;
  for (int64_t deadline = now_ns() + 10000000000LL; left > 0 && now_ns() < deadline;) {
    left = 0;
    for (int i = 0; i < count; i++) {
      if (workers[i] > 0 && waitpid(workers[i], NULL, WNOHANG) != 0) workers[i] = 0;
      left += workers[i] > 0;
    }
    usleep(5000);
  }
  for (int i = 0; i < count; i++)
    if (workers[i] > 0) kill(workers[i], SIGKILL);
  return left;
}

static void report(const struct race *race, int hung) {
  struct race_shared *shared = race->shared;
  if (shared->failure[0]) printf("failure: %s\n", shared->failure);
  printf("seed=%llu files=%d failures=%d hung=%d", (unsigned long long)race->seed, race->file_count,
         atomic_load(&shared->failures), hung);
  for (int i = 0; i < RACE_COUNTS; i++) printf(" %s=%ld", names[i], atomic_load(&shared->counts[i]));
  for (int i = 0; i < 256; i++)
    if (atomic_load(&shared->errors[i]))
      printf(" after_%s=%ld", i ? outcome(-1, i) : "SIGBUS", atomic_load(&shared->errors[i]));
  putchar('\n');
}

// race SECONDS SEED READERS SOURCE MOUNT SOCKET: races until the time is over, says so, and goes on until standard input
// ends: between the two the harness ends the volume. Every file of SOURCE takes part; those that are executable must be
// this program. SEED 0: from the clock.
int command_race(int count, char **arguments) {
  (void)count;
  enum { COMMANDS = 6, READERS_MAX = 60 };
  static struct race race;
  static pid_t workers[COMMANDS + READERS_MAX];
  int64_t deadline = now_ns() + atoll(arguments[0]) * 1000000000LL;
  race.seed = strtoull(arguments[1], NULL, 10);
  if (race.seed == 0) race.seed = (uint64_t)now_ns();
  int total = atoi(arguments[2]) + COMMANDS;
  race.source = arguments[3];
  race.mount = arguments[4];
  race.socket = arguments[5];
  race.shared = mmap(NULL, sizeof *race.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (race.shared == MAP_FAILED || total > COMMANDS + READERS_MAX || !load(&race)) return 1;
  printf("seed=%llu\n", (unsigned long long)race.seed);
  fflush(stdout);
  for (int i = 0; i < total; i++) workers[i] = start(&race, i, COMMANDS, 0);
  struct race_worker chooser = {.race = &race, .random = ~race.seed, .index = -1};
  for (int generation = 1; now_ns() < deadline && !atomic_load(&race.shared->failures); generation++) {
    usleep(100000);
    // A reader that is killed in the midst of whatever it does; it must be gone at once.
    int victim = COMMANDS + (int)(race_random(&chooser) % (uint64_t)(total - COMMANDS));
    kill(workers[victim], SIGKILL);
    int64_t patience = now_ns() + 5000000000LL;
    pid_t gone;
    while ((gone = waitpid(workers[victim], NULL, WNOHANG)) == 0 && now_ns() < patience) usleep(200);
    if (gone == 0) fail(&chooser, "worker %d did not end by SIGKILL", victim);
    workers[victim] = start(&race, victim, COMMANDS, generation);
    race_add(&chooser, KILLS, 1);
  }
  atomic_store(&race.shared->ending, 1);
  announce("ending");
  wait_for_harness();
  atomic_store(&race.shared->stop, 1);
  report(&race, collect(workers, total));
  return 0;
}

// same PATH: whether the file at PATH has the content of this very program, as it is found by its name; 42 if so, 43 if
// not, 44 if it cannot be read, or not to its end: a volume that ends may end a read in the middle.
int command_same(int count, char **arguments) {
  (void)count;
  static unsigned char here[1 << 16], there[1 << 16];
  int ours = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), theirs = open(arguments[0], O_RDONLY | O_CLOEXEC);
  if (ours < 0 || theirs < 0) return 44;
  for (;;) {
    ssize_t got = read(ours, here, sizeof here), wanted = read(theirs, there, sizeof there);
    if (got < 0 || wanted < 0) return 44;
    if (got > wanted || memcmp(here, there, (size_t)got)) return 43;
    if (got < wanted) return 44;
    if (got == 0) return 42;
  }
}
