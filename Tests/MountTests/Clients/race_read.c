// The readers of a race. Each does one thing after the other with files that are in everybody's use at that time, keeps
// some of its handles and mappings open over the next ones, and compares all it gets with SOURCE.
#include "race.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { BUFFER = 1 << 20, PAGE = 4096, KEPT = 2 };

static unsigned char buffer[BUFFER] __attribute__((aligned(PAGE)));
static sigjmp_buf after_fault;

struct kept {
  const struct race_file *file;
  int fd;
  const unsigned char *start;
};

static void on_fault(int signal) {
  (void)signal;
  siglongjmp(after_fault, 1);
}

static int open_file(struct race_worker *worker, const struct race_file *file, int flags) {
  char path[4200];
  snprintf(path, sizeof path, "%s/%s", worker->race->mount, file->name);
  int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
  if (fd < 0) race_error(worker, file, "open", errno);
  return fd;
}

// Compares what came for a range with SOURCE. `got` < 0 is an error with `errno`; fewer bytes than there are is wrong.
static int check(struct race_worker *worker, const struct race_file *file, const char *what, const void *bytes,
                 int64_t offset, int64_t wanted, ssize_t got) {
  int64_t there = offset >= file->size ? 0 : file->size - offset < wanted ? file->size - offset : wanted;
  if (got < 0) {
    race_error(worker, file, what, errno);
    return 0;
  }
  race_add(worker, BYTES, got);
  if (got > there || memcmp(bytes, file->content + offset, (size_t)got)) {
    race_wrong(worker, file, what, offset);
    return 0;
  }
  // A volume that ends may end a read in the middle.
  if (got < there) race_error(worker, file, what, atomic_load(&worker->race->shared->ending) ? EIO : EMSGSIZE);
  return got == there;
}

static void sequential(struct race_worker *worker, const struct race_file *file, int fd) {
  for (int64_t offset = 0; offset <= file->size;) {
    size_t wanted = 1 + race_random(worker) % (race_random(worker) % 2 ? BUFFER : 70000);
    ssize_t got = read(fd, buffer, wanted);
    if (!check(worker, file, "read", buffer, offset, (int64_t)wanted, got) || got == 0) break;
    offset += got;
  }
  race_add(worker, READS, 1);
}

static void anywhere(struct race_worker *worker, const struct race_file *file, int fd) {
  for (int i = 0; i < 6; i++) {
    int64_t offset = (int64_t)(race_random(worker) % (uint64_t)(file->size + 8192));
    size_t wanted = 1 + race_random(worker) % (race_random(worker) % 2 ? 200000 : 5000);
    ssize_t got = pread(fd, buffer, wanted, offset);
    if (!check(worker, file, "pread", buffer, offset, (int64_t)wanted, got)) return;
  }
  race_add(worker, PREADS, 1);
}

static void past_the_cache(struct race_worker *worker, const struct race_file *file) {
  int fd = open_file(worker, file, O_DIRECT);
  if (fd < 0) return;
  for (int i = 0; i < 4; i++) {
    int64_t offset = (int64_t)(race_random(worker) % (uint64_t)file->size) / PAGE * PAGE;
    size_t wanted = PAGE * (1 + race_random(worker) % 64);
    ssize_t got = pread(fd, buffer, wanted, offset);
    if (!check(worker, file, "read with O_DIRECT", buffer, offset, (int64_t)wanted, got)) break;
  }
  close(fd);
  race_add(worker, DIRECT_READS, 1);
}

// Compares a mapping, all of it or some pages. A fault that cannot be served is SIGBUS.
static void compare(struct race_worker *worker, const struct race_file *file, const char *what,
                    const unsigned char *start) {
  if (sigsetjmp(after_fault, 1)) {
    race_error(worker, file, what, 0);
    return;
  }
  for (int i = race_random(worker) % 2 ? 0 : 7; i < 8; i++) {
    int64_t offset = i == 7 ? 0 : (int64_t)(race_random(worker) % (uint64_t)file->size);
    int64_t length = i == 7 ? file->size : file->size - offset < PAGE ? file->size - offset : PAGE;
    if (memcmp(start + offset, file->content + offset, (size_t)length)) race_wrong(worker, file, what, offset);
    race_add(worker, BYTES, length);
  }
}

// Keeps the mapping, its descriptor closed, if there is a place for it.
static void map(struct race_worker *worker, const struct race_file *file, int fd, struct kept *place) {
  int shared = race_random(worker) % 2 == 0;
  const unsigned char *start =
      mmap(NULL, (size_t)file->size, PROT_READ, shared ? MAP_SHARED : MAP_PRIVATE, fd, 0);
  if (start == MAP_FAILED) {
    race_error(worker, file, "mmap", errno);
    return;
  }
  compare(worker, file, shared ? "shared mapping" : "private mapping", start);
  race_add(worker, shared ? SHARED_MAPS : PRIVATE_MAPS, 1);
  if (!place->file && race_random(worker) % 3 == 0) {
    *place = (struct kept){.file = file, .fd = -1, .start = start};
  } else {
    munmap((void *)start, (size_t)file->size);
  }
}

static void send_to_memory(struct race_worker *worker, const struct race_file *file, int fd) {
  int memory = memfd_create("race", MFD_CLOEXEC);
  int64_t offset = 0;
  for (ssize_t got; (got = sendfile(memory, fd, NULL, BUFFER)) != 0; offset += got) {
    if (got < 0) {
      race_error(worker, file, "sendfile", errno);
      break;
    }
    pread(memory, buffer, (size_t)got, offset);
    check(worker, file, "sendfile", buffer, offset, got, got);
  }
  if (offset < file->size && !atomic_load(&worker->race->shared->ending)) race_wrong(worker, file, "sendfile", offset);
  close(memory);
  race_add(worker, SENDFILES, 1);
}

static void splice_through(struct race_worker *worker, const struct race_file *file, int fd) {
  int ends[2];
  int64_t offset = 0;
  if (pipe2(ends, O_CLOEXEC) < 0) return;
  for (ssize_t got; (got = splice(fd, NULL, ends[1], NULL, 65536, 0)) != 0; offset += got) {
    if (got < 0) {
      race_error(worker, file, "splice", errno);
      break;
    }
    for (ssize_t left = got, out; left > 0; left -= out) {
      out = read(ends[0], buffer + (got - left), (size_t)left);
      if (out <= 0) break;
    }
    check(worker, file, "splice", buffer, offset, got, got);
  }
  if (offset < file->size && !atomic_load(&worker->race->shared->ending)) race_wrong(worker, file, "splice", offset);
  close(ends[0]);
  close(ends[1]);
  race_add(worker, SPLICES, 1);
}

// Runs a program of the volume, which compares itself with SOURCE (command_same).
static void execute(struct race_worker *worker, const struct race_file *file) {
  char path[4200], source[4200];
  snprintf(path, sizeof path, "%s/%s", worker->race->mount, file->name);
  snprintf(source, sizeof source, "%s/%s", worker->race->source, file->name);
  pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGBUS, SIG_DFL);
    execl(path, path, "same", source, NULL);
    _exit(44);
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) < 0) return;
  race_add(worker, EXECS, 1);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 42) return;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 43)
    race_wrong(worker, file, "exec", 0);
  else
    race_error(worker, file, "exec", EIO);
}

static void use(struct race_worker *worker, const struct race_file *file, struct kept *places) {
  if (file->is_program && race_random(worker) % 3 == 0) return execute(worker, file);
  if (race_random(worker) % 8 == 0) return past_the_cache(worker, file);
  int fd = open_file(worker, file, 0);
  if (fd < 0) return;
  // Whatever is cached goes, so that the next read reaches the volume even where the page cache serves it.
  if (race_random(worker) % 6 == 0) posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  struct kept *place = &places[race_random(worker) % KEPT];
  switch (race_random(worker) % 6) {
    case 0: sequential(worker, file, fd); break;
    case 1: anywhere(worker, file, fd); break;
    case 2: send_to_memory(worker, file, fd); break;
    case 3: splice_through(worker, file, fd); break;
    default: map(worker, file, fd, place); break;
  }
  if (!place->file && race_random(worker) % 4 == 0)
    *place = (struct kept){.file = file, .fd = fd};
  else
    close(fd);
}

// Uses what was kept once more, whatever has happened to the file since, and mostly gives it up.
static void use_again(struct race_worker *worker, struct kept *place) {
  if (place->start) {
    compare(worker, place->file, "kept mapping", place->start);
    race_add(worker, KEPT_MAPS, 1);
  } else {
    anywhere(worker, place->file, place->fd);
    race_add(worker, KEPT_HANDLES, 1);
  }
  if (race_random(worker) % 4 == 0) return;
  if (place->start)
    munmap((void *)place->start, (size_t)place->file->size);
  else
    close(place->fd);
  *place = (struct kept){0};
}

void race_read(struct race_worker *worker) {
  struct race *race = worker->race;
  struct kept places[KEPT] = {0};
  struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};
  sigaction(SIGBUS, &action, NULL);
  while (!atomic_load(&race->shared->stop)) {
    // All readers meet at a few files, which change, so that the others can be evicted.
    use(worker, &race->files[(race_meeting() + race_random(worker) % 5) % (uint64_t)race->file_count], places);
    for (int i = 0; i < KEPT; i++)
      if (places[i].file) use_again(worker, &places[i]);
    // Closes reach the volume later than close(2) returns; without a pause files would hardly ever be free to go.
    usleep((useconds_t)(race_random(worker) % 8000));
  }
}
