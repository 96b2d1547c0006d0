#include "cdw.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

// The types are the headers' own, so the compiler checks every call.
#define CDW_FUNCTIONS(use) \
  use(elf_version) use(elf_begin) use(elf_end) \
  use(dwarf_begin_elf) use(dwarf_end) use(dwarf_getcfi) use(dwarf_getcfi_elf) use(dwarf_cfi_end) \
  use(dwarf_cfi_addrframe) use(dwarf_frame_info) use(dwarf_frame_cfa) use(dwarf_frame_register) \
  use(dwarf_get_units) use(dwarf_haspc) use(dwarf_getsrc_die) use(dwarf_linesrc) use(dwarf_lineno) \
  use(dwarf_getscopes) use(dwarf_getscopes_die) use(dwarf_tag) use(dwarf_diename) use(dwarf_attr_integrate) \
  use(dwarf_attr) use(dwarf_formstring) use(dwarf_formudata) use(dwarf_getsrcfiles) use(dwarf_filesrc)

#define CDW_DECLARE(name) __typeof__(&name) name##_;

struct cdw_library {
  CDW_FUNCTIONS(CDW_DECLARE)
};

struct cdw_file {
  const struct cdw_library *library;
  Elf *elf, *debug_elf;
  // Of the file itself and of its debug file; null without.
  Dwarf *dwarf, *debug;
  Dwarf_CFI *exception_frames;
};

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

static const char *find_line(const struct cdw_library *library, Dwarf *dwarf, uint64_t address, int32_t *line) {
  Dwarf_CU *unit = NULL;
  Dwarf_Half version;
  uint8_t type;
  Dwarf_Die die;
  // Unit by unit: .debug_aranges, which would be quicker, is missing in what Swift and Go compile.
  while (library->dwarf_get_units_(dwarf, unit, &unit, &version, &type, &die, NULL) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton && type != DW_UT_partial) continue;
    if (library->dwarf_haspc_(&die, address) != 1) continue;
    Dwarf_Line *found = library->dwarf_getsrc_die_(&die, address);
    int number = 0;
    if (found == NULL || library->dwarf_lineno_(found, &number) != 0) return NULL;
    *line = number;
    return library->dwarf_linesrc_(found, NULL, NULL);
  }
  return NULL;
}

const char *cdw_find_line(struct cdw_file *file, uint64_t address, int32_t *line) {
  const char *found = NULL;
  if (file->debug != NULL) found = find_line(file->library, file->debug, address, line);
  if (found == NULL && file->dwarf != NULL) found = find_line(file->library, file->dwarf, address, line);
  return found;
}

static const char *function_name(const struct cdw_library *library, Dwarf_Die *die) {
  Dwarf_Attribute attribute;
  const char *name = NULL;
  // The symbol has the class and the arguments, as symbols of other frames do.
  if (library->dwarf_attr_integrate_(die, DW_AT_linkage_name, &attribute) != NULL)
    name = library->dwarf_formstring_(&attribute);
  return name != NULL ? name : library->dwarf_diename_(die);
}

static uint64_t number_of(const struct cdw_library *library, Dwarf_Die *die, unsigned int name) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  if (library->dwarf_attr_(die, name, &attribute) == NULL) return 0;
  if (library->dwarf_formudata_(&attribute, &number) != 0) return 0;
  return number;
}

static size_t inlined_in_unit(const struct cdw_library *library, Dwarf_Die *unit, uint64_t address,
                              struct cdw_inlined *found) {
  Dwarf_Die *innermost = NULL, *scopes = NULL;
  if (library->dwarf_getscopes_(unit, address, &innermost) <= 0) return 0;
  // These go from an inlined function to where it is written; what is wanted is into what it was put.
  int count = library->dwarf_getscopes_die_(&innermost[0], &scopes);
  size_t calls = 0;
  Dwarf_Files *files = NULL;
  size_t file_count = 0;
  if (library->dwarf_getsrcfiles_(unit, &files, &file_count) != 0) files = NULL;
  for (int index = 0; index < count && calls < CDW_INLINED_MAX; index++) {
    int tag = library->dwarf_tag_(&scopes[index]);
    if (tag == DW_TAG_subprogram) break;
    if (tag != DW_TAG_inlined_subroutine) continue;
    uint64_t file = number_of(library, &scopes[index], DW_AT_call_file);
    uint64_t line = number_of(library, &scopes[index], DW_AT_call_line);
    found[calls++] = (struct cdw_inlined){
        function_name(library, &scopes[index]),
        files != NULL && file < file_count ? library->dwarf_filesrc_(files, file, NULL, NULL) : NULL,
        line <= INT32_MAX ? (int32_t)line : 0};
  }
  if (count > 0) free(scopes);
  free(innermost);
  return calls;
}

static size_t find_inlined(const struct cdw_library *library, Dwarf *dwarf, uint64_t address,
                           struct cdw_inlined *found) {
  Dwarf_CU *unit = NULL;
  Dwarf_Half version;
  uint8_t type;
  Dwarf_Die die;
  while (library->dwarf_get_units_(dwarf, unit, &unit, &version, &type, &die, NULL) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton && type != DW_UT_partial) continue;
    if (library->dwarf_haspc_(&die, address) == 1) return inlined_in_unit(library, &die, address, found);
  }
  return 0;
}

size_t cdw_find_inlined(struct cdw_file *file, uint64_t address, struct cdw_inlined *found) {
  size_t count = 0;
  if (file->debug != NULL) count = find_inlined(file->library, file->debug, address, found);
  if (count == 0 && file->dwarf != NULL) count = find_inlined(file->library, file->dwarf, address, found);
  return count;
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
