#include "cdw_library.h"

// LIMIT: how deep functions lie in namespaces, types and other functions.
enum { CDW_NESTING_MAX = 64 };

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

// What is next on the same level. Never what comes before: a file may say so, and a walk would have no end.
static bool move_on(const struct cdw_library *library, Dwarf_Die *die) {
  Dwarf_Off here = library->dwarf_dieoffset_(die);
  return library->dwarf_siblingof_(die, die) == 0 && library->dwarf_dieoffset_(die) > here;
}

static bool holds_functions(int tag) {
  switch (tag) {
    case DW_TAG_namespace: case DW_TAG_module: case DW_TAG_structure_type: case DW_TAG_class_type:
    case DW_TAG_union_type: case DW_TAG_enumeration_type: case DW_TAG_interface_type:
    // Of a language whose functions have functions of their own, elsewhere in the code.
    case DW_TAG_subprogram:
      return true;
    default:
      return false;
  }
}

// libdw's dwarf_getscopes looks for addresses in namespaces, finds that they have none, and leaves out what is in them:
// all functions of Rust.
static bool find_function(const struct cdw_library *library, Dwarf_Die *unit, uint64_t address, Dwarf_Die *found) {
  Dwarf_Die path[CDW_NESTING_MAX];
  size_t depth = 0;
  if (library->dwarf_child_(unit, &path[0]) != 0) return false;
  for (;;) {
    int tag = library->dwarf_tag_(&path[depth]);
    if (tag == DW_TAG_subprogram && library->dwarf_haspc_(&path[depth], address) == 1) {
      *found = path[depth];
      return true;
    }
    if (holds_functions(tag) && depth + 1 < CDW_NESTING_MAX &&
        library->dwarf_child_(&path[depth], &path[depth + 1]) == 0) {
      depth++;
      continue;
    }
    while (!move_on(library, &path[depth]))
      if (depth-- == 0) return false;
  }
}

// The part of a function or of a part of it that an address lies in.
static bool find_part(const struct cdw_library *library, Dwarf_Die *whole, uint64_t address, Dwarf_Die *part) {
  if (library->dwarf_child_(whole, part) != 0) return false;
  do {
    int tag = library->dwarf_tag_(part);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block && tag != DW_TAG_try_block &&
        tag != DW_TAG_catch_block && tag != DW_TAG_with_stmt)
      continue;
    if (library->dwarf_haspc_(part, address) == 1) return true;
  } while (move_on(library, part));
  return false;
}

// Whether the functions of a unit are in a file of their own, which is not read here (split DWARF).
static bool is_split(const struct cdw_library *library, Dwarf_Die *unit, uint8_t type) {
  Dwarf_Attribute attribute;
  return type == DW_UT_skeleton || library->dwarf_attr_(unit, DW_AT_dwo_name, &attribute) != NULL ||
         library->dwarf_attr_(unit, DW_AT_GNU_dwo_name, &attribute) != NULL;
}

static int32_t inlined_in_unit(const struct cdw_library *library, Dwarf_Die *unit, uint8_t type, uint64_t address,
                               struct cdw_inlined *found) {
  Dwarf_Die whole, part;
  // An assembler's code has lines without functions; with -gline-tables-only, clang leaves out those into which nothing
  // is inlined.
  if (!find_function(library, unit, address, &whole))
    return is_split(library, unit, type) ? CDW_INLINED_UNREAD : 0;
  Dwarf_Files *files = NULL;
  size_t file_count = 0;
  if (library->dwarf_getsrcfiles_(unit, &files, &file_count) != 0) files = NULL;
  int32_t calls = 0;
  for (; find_part(library, &whole, address, &part); whole = part) {
    if (library->dwarf_tag_(&part) != DW_TAG_inlined_subroutine) continue;
    if (calls == CDW_INLINED_MAX) return CDW_INLINED_TOO_MANY;
    uint64_t file = number_of(library, &part, DW_AT_call_file);
    uint64_t line = number_of(library, &part, DW_AT_call_line);
    found[calls++] = (struct cdw_inlined){
        function_name(library, &part),
        files != NULL && file < file_count ? library->dwarf_filesrc_(files, file, NULL, NULL) : NULL,
        line <= INT32_MAX ? (int32_t)line : 0};
  }
  for (int32_t index = 0; index < calls / 2; index++) {
    struct cdw_inlined outer = found[index];
    found[index] = found[calls - 1 - index];
    found[calls - 1 - index] = outer;
  }
  return calls;
}

static int32_t find_inlined(const struct cdw_library *library, Dwarf *dwarf, uint64_t address,
                            struct cdw_inlined *found) {
  uint8_t type;
  Dwarf_Die unit;
  if (!cdw_find_unit(library, dwarf, address, &unit, &type)) return 0;
  return inlined_in_unit(library, &unit, type, address, found);
}

int32_t cdw_find_inlined(struct cdw_file *file, uint64_t address, struct cdw_inlined *found) {
  int32_t count = 0;
  if (file->debug != NULL) count = find_inlined(file->library, file->debug, address, found);
  if (count == 0 && file->dwarf != NULL) count = find_inlined(file->library, file->dwarf, address, found);
  return count;
}
