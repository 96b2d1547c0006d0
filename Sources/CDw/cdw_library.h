#ifndef CDW_LIBRARY_H
#define CDW_LIBRARY_H

#include "cdw.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>

// The types are the headers' own, so the compiler checks every call.
#define CDW_FUNCTIONS(use) \
  use(elf_version) use(elf_begin) use(elf_end) \
  use(dwarf_begin_elf) use(dwarf_end) use(dwarf_getcfi) use(dwarf_getcfi_elf) use(dwarf_cfi_end) \
  use(dwarf_cfi_addrframe) use(dwarf_frame_info) use(dwarf_frame_cfa) use(dwarf_frame_register) \
  use(dwarf_get_units) use(dwarf_haspc) use(dwarf_getsrc_die) use(dwarf_linesrc) use(dwarf_lineno) \
  use(dwarf_child) use(dwarf_siblingof) use(dwarf_dieoffset) use(dwarf_tag) use(dwarf_diename) use(dwarf_attr_integrate) \
  use(dwarf_attr) use(dwarf_formstring) use(dwarf_formudata) use(dwarf_getsrcfiles) use(dwarf_filesrc) \
  use(dwarf_getsrclines) use(dwarf_onesrcline) use(dwarf_lineaddr) use(dwarf_lineendsequence)

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

// The unit whose code an address lies in, and what kind of one it is. - Returns: Whether there is one.
bool cdw_find_unit(const struct cdw_library *library, Dwarf *dwarf, uint64_t address, Dwarf_Die *unit, uint8_t *type);

#endif
