// A program that changes what is in a directory, and holds what it sees against POSIX: lines of `check=NAME outcome=ok`,
// or what differed. It has to be ext4's answer, too: so it can be tried on one.
#ifndef WRITING_H
#define WRITING_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// The check that the following belong to.
void check(const char *name);

// Something that should hold; else the check's outcome is the text, with errno's name and the line.
#define HOLDS(condition) holds((condition) ? 1 : 0, #condition, __LINE__)
void holds(int condition, const char *text, int line);

// A call that should fail with an errno.
#define FAILS(error, call)                          \
  do {                                              \
    errno = 0;                                      \
    long result = (long)(call);                     \
    fails(result, errno, error, #call, __LINE__);   \
  } while (0)
void fails(long result, int error, int wanted, const char *text, int line);

// A file with content.
void put(const char *name, const char *content);

// Whether a file has this content.
int has(const char *name, const char *content);

struct stat status(const char *name);

void check_names(void);
void check_renames(void);
void check_listing(void);
void check_data(void);
void check_space(void);
void check_maps(void);
void check_lifetime(void);
void check_attributes(void);
void check_times(void);
void check_extended(void);
void check_lists(void);
void check_locks(void);
void check_large(void);

#endif
