// Who may materialize dataless files: the functions and constants that macOS has in <sys/resource.h> and <sys/stat.h>,
// for programs on volumes of the command `dataless`. Code written for macOS compiles against this header and behaves alike.
//
// It is a simulation for testing, not access control: a policy asks a volume to refuse, it hides nothing from anybody.
// How the daemon learns what was set here is in docs/POLICY.md of the project.
//
// All functions may be called from any thread. None is async-signal-safe. None changes errno when it succeeds.
#ifndef CDATALESS_H
#define CDATALESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the policy is about. macOS has other types, too; here each of them is EINVAL.
#define IOPOL_TYPE_VFS_MATERIALIZE_DATALESS_FILES 3

// Whom it is for. PROCESS: all threads of the calling process without a policy of their own; children inherit it, by
// fork(2), through execve(2), and after their parent has ended. THREAD: the calling thread alone; it ends with the
// thread and with execve(2), and neither new threads nor children inherit it. DARWIN_BG is EINVAL, as on macOS.
#define IOPOL_SCOPE_PROCESS 0
#define IOPOL_SCOPE_THREAD 1
#define IOPOL_SCOPE_DARWIN_BG 2

// DEFAULT: for a thread, to do as its process does; for a process the same as OFF, as on macOS. OFF: whatever would
// materialize fails at once with EDEADLK. ON: it waits until the content is there.
#define IOPOL_MATERIALIZE_DATALESS_FILES_DEFAULT 0
#define IOPOL_MATERIALIZE_DATALESS_FILES_OFF 1
#define IOPOL_MATERIALIZE_DATALESS_FILES_ON 2

// Bits of the flag word, st_flags on macOS. A dataless file of a cloud provider has SF_DATALESS | UF_COMPRESSED |
// UF_TRACKED (0x40000060) there, a resident one UF_TRACKED (0x40).
#ifndef SF_DATALESS
#define SF_DATALESS 0x40000000
#endif
#ifndef UF_COMPRESSED
#define UF_COMPRESSED 0x00000020
#endif
#ifndef UF_TRACKED
#define UF_TRACKED 0x00000040
#endif

// Sets the policy of the calling process or thread, for every dataless volume, also those mounted later.
//
// Returns 0, or -1 with errno set and nothing changed:
//   EINVAL  iotype, scope or policy is none of the above (as on macOS)
//   EPERM   PROCESS: the hard limit of RLIMIT_LOCKS was lowered, for instance by `ulimit -x` (not on macOS)
//   ENOENT  THREAD: /proc is not mounted (not on macOS)
//   EMFILE, ENFILE, ENOMEM, ENOLCK, EAGAIN
//           THREAD: no descriptor, memory or record lock to be had (not on macOS)
int setiopolicy_np(int iotype, int scope, int policy);

// The policy of the calling process or thread. A process answers OFF or ON, never DEFAULT, and ON if none was ever set
// (each volume then has its own default); a thread answers DEFAULT unless one was set.
//
// Returns the policy, or -1 with errno set: EINVAL as above (as on macOS); for THREAD also the others.
int getiopolicy_np(int iotype, int scope);

// The flag word of a file or directory, which macOS has in st_flags: SF_DATALESS | UF_COMPRESSED | UF_TRACKED if it is
// dataless, UF_TRACKED if it is resident, 0 if it is not on a dataless volume. Materializes nothing, but for dataless
// directories on the way to it, as stat(2) does. Follows symbolic links.
//
// Returns 0, or -1 with errno set and *flags unchanged: EFAULT if an argument is NULL, otherwise what getxattr(2) says
// (ENOENT, EACCES, ENOTDIR, ELOOP, ENAMETOOLONG, EDEADLK on the way, EIO, ENOTCONN). macOS: stat(2).
int dataless_get_flags(const char *path, uint32_t *flags);

// The same for an open file: EBADF if it is not open, or open with O_PATH. macOS: fstat(2).
int dataless_fget_flags(int descriptor, uint32_t *flags);

#ifdef __cplusplus
}
#endif

#endif
