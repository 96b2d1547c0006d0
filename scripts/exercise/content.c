// An exerciser in the manner of fsx: random reads, writes, truncations, mappings, holes and copies on two files, each
// held against an array of bytes; with a hook, evictions and the like between them.
//
//   content make DIR COUNT                    makes pristine files in DIR (a volume's SOURCE)
//   content run DIR [--ops N] [--seed N] [--from N] [--stride N] [--hook PROGRAM]
//              [--hook-every N] [--remounts] [--without OPERATION]... [--verbose]
//
// What is wrong is told with the operation, and a short list of operations that shows it is looked for. A run is
// replayed by its seed. PROGRAM is called with `evict`, `materialize`, `refresh` or `remount` and a path, about once in
// N operations. Files are taken from pristine-00000 on (`--from`, every `--stride`th), or made where there is none.
// Exit status: 0 no difference, 1 one, 2 usage.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "content.h"

#define SHRINK_SECONDS 60

static struct run run;
static bool verbose;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// Runs these operations on fresh files; the place of the one that failed, or -1.
static int64_t run_all(const uint32_t *numbers, int64_t count) {
  static volatile int64_t place;
  char text[200];
  place = 0;
  if (setjmp(run.failed) != 0) {
    end(&run);
    return place;
  }
  begin(&run);
  for (; place < count; place = place + 1) {
    struct op op = op_of(&run, numbers ? numbers[place] : (uint32_t)place);
    if (verbose && !numbers) describe(&op, text, sizeof text), puts(text);
    perform(&run, &op);
  }
  for (uint32_t file = 0; file < FILES; file++) {
    struct op op = {.kind = CHECK, .file = file, .number = (uint32_t)count};
    perform(&run, &op);
  }
  end(&run);
  return -1;
}

// The shortest tail of the run that fails on fresh files, then without each part that is not needed.
static int64_t shrink(uint32_t *numbers, int64_t failed) {
  double limit = now() + SHRINK_SECONDS;
  int64_t count = 0;
  for (int64_t tail = 8; count == 0 && now() < limit; tail *= 4) {
    int64_t first = failed + 1 > tail ? failed + 1 - tail : 0, length = failed + 1 - first;
    for (int64_t place = 0; place < length; place++) numbers[place] = (uint32_t)(first + place);
    int64_t where = run_all(numbers, length);
    if (where >= 0) count = where + 1 < length ? where + 1 : length;
    if (first == 0) break;
  }
  uint32_t *fewer = malloc((size_t)(count + 1) * sizeof *fewer);
  for (int64_t part = count / 2; fewer && part > 0 && now() < limit; part /= 2) {
    for (int64_t start = 0; start + part <= count && now() < limit;) {
      memcpy(fewer, numbers, (size_t)start * sizeof *fewer);
      memcpy(fewer + start, numbers + start + part, (size_t)(count - start - part) * sizeof *fewer);
      int64_t where = run_all(fewer, count - part);
      if (where < 0) {
        start += part;
        continue;
      }
      count = where + 1 < count - part ? where + 1 : count - part;
      memcpy(numbers, fewer, (size_t)count * sizeof *fewer);
    }
  }
  free(fewer);
  return count;
}

static void print_all(const uint32_t *numbers, int64_t first, int64_t count) {
  char text[200];
  for (int64_t place = 0; place < count; place++) {
    struct op op = op_of(&run, numbers ? numbers[place] : (uint32_t)(first + place));
    describe(&op, text, sizeof text);
    printf("  %s\n", text);
  }
}

static int report(int64_t failed, int64_t count) {
  char text[200];
  if (failed < count) {
    struct op op = op_of(&run, (uint32_t)failed);
    describe(&op, text, sizeof text);
  } else {
    snprintf(text, sizeof text, "the last check");
  }
  printf("content: DIFFERENCE at %s\n  %s\nthe operations before it:\n", text, run.message);
  int64_t told = failed < 12 ? failed : 12;
  print_all(NULL, failed - told, told);
  fflush(stdout);
  uint32_t *numbers = malloc((size_t)(failed + 8) * sizeof *numbers);
  int64_t shrunk = numbers ? shrink(numbers, failed < count ? failed : count - 1) : 0;
  if (shrunk) {
    run_all(numbers, shrunk);
    printf("these %lld operations show it, on fresh files:\n", (long long)shrunk);
    print_all(numbers, 0, shrunk);
    printf("  %s\n", run.message);
  } else {
    printf("no shorter list of operations shows it\n");
  }
  free(numbers);
  return 1;
}

static int make(const char *directory, uint32_t count) {
  char path[4200];
  for (uint32_t number = 0; number < count; number++) {
    snprintf(path, sizeof path, "%s/pristine-%05u", directory, number);
    if (pristine_make(path, number) != 0) return perror(path), 2;
  }
  return 0;
}

static int usage(void) {
  fputs("usage: content make DIR COUNT | content run DIR [--ops N] [--seed N] [--from N] [--stride N]"
        " [--hook PROGRAM] [--hook-every N] [--remounts] [--without OPERATION] [--verbose]\n", stderr);
  return 2;
}

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"ops", 1, 0, 'o'}, {"seed", 1, 0, 's'}, {"from", 1, 0, 'f'}, {"hook", 1, 0, 'h'},
      {"stride", 1, 0, 'd'}, {"hook-every", 1, 0, 'e'}, {"remounts", 0, 0, 'r'},
      {"without", 1, 0, 'w'}, {"verbose", 0, 0, 'v'}, {0, 0, 0, 0}};
  int64_t count = 100000;
  run.seed = (uint64_t)time(NULL);
  run.hook_every = 1000;
  run.stride = 1;
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (option) {
      case 'o': count = strtoll(optarg, NULL, 10); break;
      case 's': run.seed = strtoull(optarg, NULL, 10); break;
      case 'f': run.pristine = (uint32_t)strtoul(optarg, NULL, 10); break;
      case 'd': run.stride = (uint32_t)strtoul(optarg, NULL, 10); break;
      case 'h': run.hook = optarg; break;
      case 'e': run.hook_every = (uint32_t)strtoul(optarg, NULL, 10); break;
      case 'r': run.remounts = true; break;
      case 'w':
        if (!leave_out(&run, optarg)) return usage();
        break;
      case 'v': verbose = true; break;
      default: return usage();
    }
  }
  if (argc - optind == 3 && strcmp(argv[optind], "make") == 0)
    return make(argv[optind + 1], (uint32_t)strtoul(argv[optind + 2], NULL, 10));
  if (argc - optind != 2 || strcmp(argv[optind], "run") != 0 || count < 1 || count > UINT32_MAX) return usage();
  run.directory = argv[optind + 1];
  for (int file = 0; file < FILES; file++) {
    run.files[file].model = calloc(1, LONGEST);
    run.files[file].writer = calloc(LONGEST, sizeof(uint32_t));
    if (!run.files[file].model || !run.files[file].writer) return perror("content"), 2;
  }
  if (posix_memalign((void **)&run.buffer, 4096, LONGEST + 8192) != 0) return perror("content"), 2;
  printf("content: seed %llu, %lld operations in %s\n", (unsigned long long)run.seed, (long long)count, run.directory);
  fflush(stdout);
  double started = now();
  int64_t failed = run_all(NULL, count);
  if (failed >= 0) return report(failed, count);
  printf("content: no difference after %lld operations, %.1f s\n", (long long)count, now() - started);
  return 0;
}
