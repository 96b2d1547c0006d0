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

// Coordinated accesses (docs/COORDINATION.md): programs that read and write the same files say so beforehand, and come one
// after the other. Who reads shares with others who read; who writes is alone; a directory is claimed with all below it.
// First come, first served. What is dataless is made local first, several at once, whatever policy the calling thread has.
struct dataless_claim {
  const char *path;  // relative to the working directory, or absolute; links are followed up to the volume, not on it
  int writes;        // 0: it is read
};

// Nothing is made local. Only names and attributes are of interest, so nothing is made local either. What is written is
// moved, deleted or replaced whole: its content is not needed.
#define DATALESS_COORDINATE_WITHOUT_MATERIALIZATION 1
#define DATALESS_COORDINATE_METADATA_ONLY 2
#define DATALESS_COORDINATE_MOVING 4
#define DATALESS_COORDINATE_DELETING 8
#define DATALESS_COORDINATE_REPLACING 16
// The process becomes a command, or waits for one, and gives this back when that has ended, as `dataless coordinate` does:
// so it is in the way of nobody who descends from it.
#define DATALESS_COORDINATE_COMMAND 8192

// Asks for all claims at once: a batch, or what is read and what is written after that.
//
// Mechanism: a connection to the volume's daemon, one message, no thread. Up to 100,000 paths, on one volume. within: the
// number of an intent of this process on the same volume that is granted and is not given back before this one is
// answered, or 0. Intents of two volumes have the same numbers: of another one it means nothing, or somebody else's.
//
// Returns a close-on-exec descriptor that becomes readable (poll(2), epoll(7), select(2)) when dataless_coordinate_result()
// has an answer. It is the intent: close(2) it earlier, and it is cancelled; end it with dataless_coordinate_end().
//
// Returns -1 with errno set, and nothing asked: EFAULT, EINVAL (no claims, unknown flags); ENODATA if a path lies on no
// volume, EXDEV if they lie on several; ENOTCONN if nobody serves the volume, EAGAIN if 4,096 asked
// before it and were not heard for 2 s, for which it waits then; EACCES if the caller is neither the volume's user nor root,
// or if somebody else answers in the daemon's place; ENAMETOOLONG, ELOOP, ENOMEM, EMFILE, ENFILE, ENOSPC.
int dataless_coordinate_start(const struct dataless_claim *claims, size_t count, int flags, uint64_t within);

// What an intent was answered.
struct dataless_coordination {
  int code;              // DATALESS_COORDINATION_...
  int error;             // the errno that goes with it; 0 when granted
  uint64_t intent;       // its number, as the volume's log has it
  int64_t waited_ns;     // for others
  int64_t materialized;  // files and directories that were made local for it
  char message[1025];    // what is wrong, where, and what to do
};

#define DATALESS_COORDINATION_GRANTED 0
#define DATALESS_COORDINATION_DEADLOCK 1        // ECANCELED: those it would wait for wait for what is held already
#define DATALESS_COORDINATION_BUSY 2            // EBUSY: too many intents, or too many names in them
#define DATALESS_COORDINATION_TOO_MANY_PATHS 3  // E2BIG: more than one intent may have
#define DATALESS_COORDINATION_BAD_PATH 4        // EINVAL: it has `..` in it, or is too long
#define DATALESS_COORDINATION_THROUGH_LINK 5    // ELOOP: a symbolic link on the volume
#define DATALESS_COORDINATION_OUTER_NOT_HELD 6  // ESRCH: `within` is not granted to this process
#define DATALESS_COORDINATION_TAKEN_AWAY 7      // ECANCELED: stopped while others waited, not saved in time, or ended by a copy
#define DATALESS_COORDINATION_VOLUME_ENDED 8    // ETIMEDOUT
#define DATALESS_COORDINATION_FAILED 9          // what read(2) would have said: ENOENT, EIO, ETIMEDOUT, ENOSPC
#define DATALESS_COORDINATION_BAD_REQUEST 10    // EPROTO: the daemon is of another version
#define DATALESS_COORDINATION_NOT_ALLOWED 11    // EACCES: neither the volume's user nor root

// The answer. Never waits. 0: granted, from now on and until the descriptor is closed. Asked again after that it fails with
// EAGAIN as long as the intent is granted, and tells when it was taken away: the descriptor is readable from then on. A refusal
// is told again, too.
//
// Returns -1 with errno set: EAGAIN if there is no answer yet; EBADF, EFAULT, EINVAL (the descriptor is of something else),
// with *result unchanged; else result->error, with *result filled.
int dataless_coordinate_result(int descriptor, struct dataless_coordination *result);

// Gives back what is held, also by copies of the descriptor in children, and closes it.
//
// Returns 0, or -1 with errno set: EBADF, EINVAL and nothing done; ECANCELED if the intent had been taken away before, or ended
// by a copy, ETIMEDOUT if the volume had ended: what was done since was coordinated with nobody; or that of the refusal.
int dataless_coordinate_end(int descriptor);

// "coordination_deadlock" and so on, as the volume's log has it.
const char *dataless_coordination_name(int code);

// Presents a name: a document that is open, a folder that is shown. Its program is told before others who coordinate use
// that name, what is below it or a directory in which it lies, and may save before they do; and of some things when they
// have happened. Its own intents, of the whole process, it is not told of.
//
// Returns a close-on-exec descriptor that becomes readable when there is news; close it with dataless_present_end(). -1 with
// errno set: EFAULT if path is NULL, otherwise as dataless_coordinate_start().
int dataless_present_start(const char *path);

struct dataless_news {
  int what;         // DATALESS_NEWS_...
  uint64_t intent;  // the number of the intent, the eviction or the change it is about; 0 for none
  int64_t others;   // paths of the intent beside this one
  char path[4096];  // what is used, from the volume's root
};

// About to happen: it waits for dataless_present_answer(), 5 s at most. To save first, or to look at it under coordination, ask
// within the intent, and answer when that is ended.
#define DATALESS_NEWS_READ 1
#define DATALESS_NEWS_WRITE 2
#define DATALESS_NEWS_MOVE 3
#define DATALESS_NEWS_DELETE 4
#define DATALESS_NEWS_REPLACE 5
// Over: the presenter may use the file again.
#define DATALESS_NEWS_ENDED 6
// Has happened, and waits for nobody: content was evicted; another version in SOURCE was taken over; the name
// presented is `path` now.
#define DATALESS_NEWS_EVICTED 7
#define DATALESS_NEWS_CHANGED 8
#define DATALESS_NEWS_RENAMED 9
// About to happen, and wait for dataless_present_answer() as the first five do: a command, a rule or pressure evicts the
// content; what SOURCE has changed is taken over. They hold nothing, so that who wants to save first asks within nothing.
#define DATALESS_NEWS_EVICT 10
#define DATALESS_NEWS_CHANGE 11

// The next news. Never waits. Returns 0, or -1 with errno set: EAGAIN if there is none; ETIMEDOUT if the volume has ended, EPROTO if
// the presenter was cut off, as it left too much unread; EINVAL, EBADF, EFAULT.
int dataless_present_next(int descriptor, struct dataless_news *news);

// The intent may go on. An answer that nobody waits for is nothing. Returns 0, or -1 with errno set: ETIMEDOUT, EINVAL, EBADF.
int dataless_present_answer(int descriptor, uint64_t intent);

// Presents no more. Returns 0, or -1 with errno set: EBADF, EINVAL and nothing done.
int dataless_present_end(int descriptor);

#ifdef __cplusplus
}
#endif

#endif
