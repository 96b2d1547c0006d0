// The part of elfutils' libdw that DatalessStacks needs: rows of unwind tables and lines of addresses. Everything here
// starts with cdw_.
//
// The library is loaded when it is asked for, by the process that reads callers' files and by no other: a program that
// takes no stacks needs none of it, and starts without it.
#ifndef CDW_H
#define CDW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cdw_library;
struct cdw_file;
struct cdw_row;

// Null when libdw.so.1 is not installed, or lacks a function; then `problem` says so in the dynamic linker's words,
// which are valid until the next call into it.
struct cdw_library *cdw_load(const char **problem);

// A program or library. `debug` is its file of debug information, or -1. The descriptors stay the caller's, and stay
// open until cdw_close. Null for what is no ELF file.
struct cdw_file *cdw_open(const struct cdw_library *library, int32_t descriptor, int32_t debug);
void cdw_close(struct cdw_file *file);

// What the tables say about an address of the file; null where they say nothing.
struct cdw_row *cdw_find_row(struct cdw_file *file, uint64_t address);
void cdw_free_row(struct cdw_row *row);

// Whether a signal was delivered there.
bool cdw_is_signal_frame(const struct cdw_row *row);

// Of which register a row is asked: the frame's address, or a register by DWARF's number (16: the return address).
enum { CDW_FRAME_ADDRESS = -1, CDW_RETURN_ADDRESS = 16 };
// How a row has it.
enum { CDW_UNKNOWN = -1, CDW_UNDEFINED, CDW_SAME, CDW_LOCATION };

struct cdw_operation {
  uint8_t code;
  uint64_t first, second, offset;
};

struct cdw_rule {
  // CDW_UNKNOWN and so on. Only CDW_LOCATION has operations.
  int32_t kind;
  size_t count;
};

// Looks a rule up, and remembers it for cdw_operation_at.
struct cdw_rule cdw_find_rule(struct cdw_row *row, int32_t number);
// `index` is below the count of the rule that was looked up last.
struct cdw_operation cdw_operation_at(const struct cdw_row *row, size_t index);

// The file and the line of an address; null without debug information. The text belongs to the file.
const char *cdw_find_line(struct cdw_file *file, uint64_t address, int32_t *line);
// The same of the first row at an address, which is a function's own where it begins: what is inlined at its first
// instruction has rows behind it there, and cdw_find_line gives the last one. Null where no row begins there.
const char *cdw_find_first_line(struct cdw_file *file, uint64_t address, int32_t *line);

// A function that is inlined into another one, and where that would call it.
struct cdw_inlined {
  // A symbol, or a name where it has none; null without either. `file` is null where it is not known. The texts are
  // the file's.
  const char *function, *file;
  int32_t line;
};
enum { CDW_INLINED_MAX = 32, CDW_INLINED_UNREAD = -1, CDW_INLINED_TOO_MANY = -2 };

// The functions that are inlined at an address, innermost first; 0 without debug information. CDW_INLINED_TOO_MANY
// where they are more, CDW_INLINED_UNREAD where a file tells of them that is not read (split DWARF).
int32_t cdw_find_inlined(struct cdw_file *file, uint64_t address, struct cdw_inlined *found);

// What a compiler wrote into a symbol, in the words of the language; null where it is no such name. To be given to
// free(3). `symbol` ends with a zero.
//
// cdw_load_demanglers has been called before; without libstdc++.so.6 there are no names of C++.
void cdw_load_demanglers(void);
char *cdw_demangle_cxx(const char *symbol);
char *cdw_demangle_swift(const char *symbol);

#endif
