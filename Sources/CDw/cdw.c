#include "cdw_library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct cdw_row {
  const struct cdw_library *library;
  Dwarf_Frame *frame;
  bool is_signal_frame;
  int32_t return_register;
  // What dwarf_frame_register fills in, and what cdw_find_rule found last.
  Dwarf_Op memory[3];
  Dwarf_Op *operations;
  size_t count;
};

struct cdw_library *cdw_load(const char **problem) {
  *problem = NULL;
  void *handle = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    *problem = dlerror();
    return NULL;
  }
  struct cdw_library *library = calloc(1, sizeof *library);
  if (library == NULL) {
    *problem = "no memory";
    return NULL;
  }
// The functions of libelf are found, too: libdw depends on it.
#define CDW_FIND(name) \
  if (*problem == NULL && (library->name##_ = (__typeof__(&name))dlsym(handle, #name)) == NULL) *problem = dlerror();
  CDW_FUNCTIONS(CDW_FIND)
  if (*problem != NULL || library->elf_version_(EV_CURRENT) == EV_NONE) {
    if (*problem == NULL) *problem = "libelf is too old";
    free(library);
    return NULL;
  }
  return library;
}

struct cdw_file *cdw_open(const struct cdw_library *library, int32_t descriptor, int32_t debug) {
  struct cdw_file *file = calloc(1, sizeof *file);
  if (file == NULL) return NULL;
  file->library = library;
  // Not mapped: a file that its owner cuts meanwhile would end the process.
  file->elf = library->elf_begin_(descriptor, ELF_C_READ, NULL);
  if (file->elf == NULL) {
    free(file);
    return NULL;
  }
  file->exception_frames = library->dwarf_getcfi_elf_(file->elf);
  file->dwarf = library->dwarf_begin_elf_(file->elf, DWARF_C_READ, NULL);
  if (debug >= 0) file->debug_elf = library->elf_begin_(debug, ELF_C_READ, NULL);
  if (file->debug_elf != NULL) file->debug = library->dwarf_begin_elf_(file->debug_elf, DWARF_C_READ, NULL);
  return file;
}

void cdw_close(struct cdw_file *file) {
  if (file == NULL) return;
  const struct cdw_library *library = file->library;
  library->dwarf_cfi_end_(file->exception_frames);
  if (file->debug != NULL) library->dwarf_end_(file->debug);
  if (file->dwarf != NULL) library->dwarf_end_(file->dwarf);
  if (file->debug_elf != NULL) library->elf_end_(file->debug_elf);
  library->elf_end_(file->elf);
  free(file);
}

static Dwarf_Frame *find_frame(const struct cdw_library *library, Dwarf_CFI *table, uint64_t address) {
  Dwarf_Frame *frame = NULL;
  return table != NULL && library->dwarf_cfi_addrframe_(table, address, &frame) == 0 ? frame : NULL;
}

struct cdw_row *cdw_find_row(struct cdw_file *file, uint64_t address) {
  const struct cdw_library *library = file->library;
  Dwarf_Frame *frame = find_frame(library, file->exception_frames, address);
  if (frame == NULL && file->dwarf != NULL) frame = find_frame(library, library->dwarf_getcfi_(file->dwarf), address);
  if (frame == NULL && file->debug != NULL) frame = find_frame(library, library->dwarf_getcfi_(file->debug), address);
  if (frame == NULL) return NULL;
  struct cdw_row *row = calloc(1, sizeof *row);
  if (row == NULL) {
    free(frame);
    return NULL;
  }
  row->library = library;
  row->frame = frame;
  row->return_register = library->dwarf_frame_info_(frame, NULL, NULL, &row->is_signal_frame);
  return row;
}

void cdw_free_row(struct cdw_row *row) {
  if (row == NULL) return;
  free(row->frame);
  free(row);
}

bool cdw_is_signal_frame(const struct cdw_row *row) { return row->is_signal_frame; }

struct cdw_rule cdw_find_rule(struct cdw_row *row, int32_t number) {
  const struct cdw_rule unknown = {CDW_UNKNOWN, 0};
  row->operations = NULL;
  row->count = 0;
  if (number == CDW_FRAME_ADDRESS) {
    if (row->library->dwarf_frame_cfa_(row->frame, &row->operations, &row->count) != 0) return unknown;
  } else {
    if (number == CDW_RETURN_ADDRESS) number = row->return_register;
    if (number < 0) return unknown;
    if (row->library->dwarf_frame_register_(row->frame, number, row->memory, &row->operations, &row->count) != 0)
      return unknown;
    if (row->count == 0)
      return (struct cdw_rule){row->operations == NULL ? CDW_SAME : CDW_UNDEFINED, 0};
  }
  return row->count == 0 ? unknown : (struct cdw_rule){CDW_LOCATION, row->count};
}

struct cdw_operation cdw_operation_at(const struct cdw_row *row, size_t index) {
  const Dwarf_Op *operation = &row->operations[index];
  return (struct cdw_operation){operation->atom, operation->number, operation->number2, operation->offset};
}

bool cdw_find_unit(const struct cdw_library *library, Dwarf *dwarf, uint64_t address, Dwarf_Die *unit, uint8_t *type) {
  Dwarf_CU *next = NULL;
  Dwarf_Half version;
  // Unit by unit: .debug_aranges, which would be quicker, is missing in what Swift and Go compile.
  while (library->dwarf_get_units_(dwarf, next, &next, &version, type, unit, NULL) == 0) {
    if (*type != DW_UT_compile && *type != DW_UT_skeleton && *type != DW_UT_partial) continue;
    if (library->dwarf_haspc_(unit, address) == 1) return true;
  }
  return false;
}

// The first row of an address; null where none begins there.
static Dwarf_Line *first_row(const struct cdw_library *library, Dwarf_Die *unit, uint64_t address) {
  Dwarf_Lines *rows;
  size_t count = 0;
  if (library->dwarf_getsrclines_(unit, &rows, &count) != 0) return NULL;
  // libdw has them sorted by address, and rows of one address in the order of the table.
  size_t low = 0;
  for (size_t high = count; low < high;) {
    size_t middle = low + (high - low) / 2;
    Dwarf_Addr at;
    if (library->dwarf_lineaddr_(library->dwarf_onesrcline_(rows, middle), &at) != 0) return NULL;
    if (at < address) low = middle + 1; else high = middle;
  }
  for (; low < count; low++) {
    Dwarf_Line *row = library->dwarf_onesrcline_(rows, low);
    Dwarf_Addr at;
    bool is_end;
    if (library->dwarf_lineaddr_(row, &at) != 0 || at != address) return NULL;
    // Where the code of another function ends, which lies before this one.
    if (library->dwarf_lineendsequence_(row, &is_end) == 0 && !is_end) return row;
  }
  return NULL;
}

static const char *find_line(
    const struct cdw_library *library, Dwarf *dwarf, uint64_t address, bool first, int32_t *line) {
  uint8_t type;
  Dwarf_Die unit;
  if (!cdw_find_unit(library, dwarf, address, &unit, &type)) return NULL;
  Dwarf_Line *found = first ? first_row(library, &unit, address) : library->dwarf_getsrc_die_(&unit, address);
  int number = 0;
  if (found == NULL || library->dwarf_lineno_(found, &number) != 0) return NULL;
  *line = number;
  return library->dwarf_linesrc_(found, NULL, NULL);
}

static const char *find_line_of(struct cdw_file *file, uint64_t address, bool first, int32_t *line) {
  const char *found = NULL;
  if (file->debug != NULL) found = find_line(file->library, file->debug, address, first, line);
  if (found == NULL && file->dwarf != NULL) found = find_line(file->library, file->dwarf, address, first, line);
  return found;
}

const char *cdw_find_line(struct cdw_file *file, uint64_t address, int32_t *line) {
  return find_line_of(file, address, false, line);
}

const char *cdw_find_first_line(struct cdw_file *file, uint64_t address, int32_t *line) {
  return find_line_of(file, address, true, line);
}

static char *(*demangle_cxx)(const char *, char *, size_t *, int *);
// Of Swift's runtime, which is a part of every program that has this: linked, or loaded with it.
extern char *swift_demangle(const char *symbol, size_t length, char *output, size_t *size, uint32_t flags);

void cdw_load_demanglers(void) {
  // It is loaded already where Swift's runtime is not linked statically.
  void *handle = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
  if (handle != NULL) demangle_cxx = (__typeof__(demangle_cxx))dlsym(handle, "__cxa_demangle");
}

char *cdw_demangle_cxx(const char *symbol) {
  int status = 0;
  return demangle_cxx == NULL ? NULL : demangle_cxx(symbol, NULL, NULL, &status);
}

char *cdw_demangle_swift(const char *symbol) { return swift_demangle(symbol, strlen(symbol), NULL, NULL, 0); }
