// Who may materialize dataless files: the functions and constants that macOS has in <sys/resource.h> and <sys/stat.h>,
// for programs on volumes of the command `dataless`. Code written for macOS compiles against this header and behaves alike.
//
// It is a simulation for testing, not access control: a policy asks a volume to refuse, it hides nothing from anybody.
// How the daemon learns what was set here is in docs/POLICY.md of the project.
//
// All functions may be called from any thread. None is async-signal-safe. None changes errno when it succeeds.
#ifndef CDATALESS_H
#define CDATALESS_H

#include <stddef.h>
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

// Whether an item, with all that is below it, is to be in no backup: the extended attribute
// user.com.apple.metadata:com_apple_backup_excludeItem, on any file system that has such attributes. Setting it to 0 takes
// the older user.com.apple.MobileBackup away, too. macOS: NSURLIsExcludedFromBackupKey.
//
// Returns 0, or -1 with errno set: EFAULT if path is NULL, otherwise what setxattr(2) and removexattr(2) say (EROFS, EPERM).
int dataless_set_backup_excluded(const char *path, int excluded);

// *excluded: 0, or DATALESS_BACKUP_EXCLUDED if the item itself has one of the two attributes, or ..._ABOVE if a directory
// above on the same file system has one. Materializes nothing, but for dataless directories on the way.
//
// Returns 0, or -1 with errno set and *excluded unchanged: EFAULT if an argument is NULL, otherwise what getxattr(2),
// realpath(3) and stat(2) say.
#define DATALESS_BACKUP_EXCLUDED 1
#define DATALESS_BACKUP_EXCLUDED_ABOVE 2
int dataless_get_backup_excluded(const char *path, int *excluded);

// How much room a volume has, in bytes. macOS: NSURLVolumeAvailableCapacityFor...UsageKey.
struct dataless_capacity {
  int64_t free_bytes;           // as statfs(2) of a writable volume says
  int64_t important_bytes;      // for what people ask for: and all that could be purged or evicted
  int64_t opportunistic_bytes;  // for what nobody has asked for: and temporary files, less a reserve
};

// Of the volume on which an item lies; the numbers are at most a second old.
//
// Returns 0, or -1 with errno set and *capacity unchanged: ENODATA if it lies on no volume, EFAULT if an argument is NULL,
// otherwise what getxattr(2) says.
int dataless_get_capacity(const char *path, struct dataless_capacity *capacity);

// Makes files local in the background, several at once: no thread of the caller's waits for content.
//
// Mechanism: up to 4 threads of the library's open the paths, ask for the extended attribute user.dataless.state, and read
// what is dataless until nothing is missing; of a directory they read the listing, not what is below. They have all
// signals blocked, the name dl-materialize, and a policy of their own, ON, whatever the process' is. The waits are seen in
// a volume's log as the process' own, of no main thread. What is local, or on no volume, is left alone; symbolic links are
// followed; a relative path means the working directory of the moment of the call.
//
// Returns a close-on-exec descriptor that becomes readable (poll(2), epoll(7), select(2)) when all are local or one
// failed; then dataless_materialize_result() says of each path what became of it. close(2) it in either case: closed
// earlier, nothing more is begun; a fetch under way goes on by itself, and its thread ends with it.
//
// fork(2): the child has the descriptor and none of the threads; whichever of the two asks first gets the result, and
// only when both have closed it is the work given up. The child of a process that is exec(2)ed has nothing of it. A
// process that ends does not wait for the threads.
//
// flags: 0, or DATALESS_MATERIALIZE_GO_ON: a failure does not end it, and the descriptor becomes readable when all paths
// have been dealt with.
//
// Returns -1 with errno set, and nothing begun: EFAULT if paths or one of them is NULL; EINVAL if count is 0 or above
// 1,048,576, or flags is none of these; ENOMEM, EMFILE, ENFILE, EAGAIN (no thread); for relative paths also what open(2)
// says of the working directory.
#define DATALESS_MATERIALIZE_GO_ON 1
int dataless_materialize_start(const char *const *paths, size_t count, int flags);

// What became of the paths, once: errors[i] of paths[i] is 0 if it is local, ECANCELED if it was not waited for, because
// another one had failed, or what openat(2), fstat(2), read(2) and fgetxattr(2) said: ENOENT, EACCES, EDEADLK, ETIMEDOUT,
// EIO. Never waits.
//
// Returns the number of paths that are not local, or -1 with errno set: EAGAIN if it is not over yet; EINVAL if count is
// another one than that of the start, or the descriptor is of something else; ENODATA if it was asked for already; EBADF;
// EFAULT if errors is NULL. With EAGAIN and EINVAL it can be asked for again.
int dataless_materialize_result(int descriptor, int *errors, size_t count);

#ifdef __cplusplus
}
#endif

#endif
