// Names: made, moved, removed, listed.
#include "writing.h"

#include <dirent.h>
#include <sys/sysmacros.h>

static char *long_name(size_t length) {
  static char text[300];
  memset(text, 'n', length);
  text[length] = 0;
  return text;
}

void check_names(void) {
  char link_text[64];
  check("files");
  put("file", "text");
  FAILS(EEXIST, open("file", O_CREAT | O_EXCL | O_WRONLY, 0644));
  FAILS(ENOENT, open("none/file", O_CREAT | O_WRONLY, 0644));
  FAILS(ENOTDIR, open("file/file", O_CREAT | O_WRONLY, 0644));
  FAILS(EISDIR, open(".", O_WRONLY));
  FAILS(ENOENT, open("none", O_WRONLY));
  HOLDS(status("file").st_nlink == 1 && (status("file").st_mode & 07777) == 0644);
  HOLDS(unlink("file") == 0);
  FAILS(ENOENT, unlink("file"));
  check("long_names");
  put(long_name(255), "x");
  HOLDS(has(long_name(255), "x") && unlink(long_name(255)) == 0);
  FAILS(ENAMETOOLONG, open(long_name(256), O_CREAT | O_WRONLY, 0644));
  FAILS(ENAMETOOLONG, mkdir(long_name(256), 0755));
  FAILS(ENAMETOOLONG, symlink("x", long_name(256)));
  FAILS(ENAMETOOLONG, mkfifo(long_name(256), 0644));
  FAILS(ENAMETOOLONG, unlink(long_name(256)));
  FAILS(ENAMETOOLONG, lstat(long_name(256), &(struct stat){0}));
  check("directories");
  HOLDS(mkdir("d", 0777) == 0 && (status("d").st_mode & 07777) == 0755);
  FAILS(EEXIST, mkdir("d", 0755));
  HOLDS(status("d").st_nlink == 2);
  HOLDS(mkdir("d/e", 0755) == 0 && status("d").st_nlink == 3);
  FAILS(ENOTEMPTY, rmdir("d"));
  FAILS(EISDIR, unlink("d"));
  HOLDS(rmdir("d/e") == 0 && status("d").st_nlink == 2 && rmdir("d") == 0);
  put("f", "x");
  FAILS(ENOTDIR, rmdir("f"));
  check("hard_links");
  HOLDS(link("f", "g") == 0 && status("f").st_nlink == 2 && status("f").st_ino == status("g").st_ino);
  FAILS(EEXIST, link("f", "g"));
  FAILS(EPERM, link(".", "h"));
  FAILS(ENOENT, link("none", "h"));
  put("g", "through g");
  HOLDS(has("f", "through g"));
  HOLDS(unlink("f") == 0 && status("g").st_nlink == 1 && has("g", "through g"));
  check("symbolic_links");
  HOLDS(symlink("g", "s") == 0 && has("s", "through g") && status("s").st_size == 1);
  HOLDS(readlink("s", link_text, sizeof link_text) == 1 && link_text[0] == 'g');
  HOLDS(S_ISLNK(status("s").st_mode) && (status("s").st_mode & 07777) == 0777);
  FAILS(EEXIST, symlink("x", "s"));
  HOLDS(symlink("nowhere", "t") == 0);
  FAILS(ENOENT, open("t", O_RDONLY));
  HOLDS(linkat(AT_FDCWD, "s", AT_FDCWD, "u", 0) == 0 && S_ISLNK(status("u").st_mode));
  check("special_files");
  HOLDS(mkfifo("fifo", 0666) == 0 && S_ISFIFO(status("fifo").st_mode));
  HOLDS((status("fifo").st_mode & 07777) == 0644);
  HOLDS(mknod("socket", S_IFSOCK | 0600, 0) == 0 && S_ISSOCK(status("socket").st_mode));
  if (geteuid() == 0) {
    HOLDS(mknod("device", S_IFCHR | 0600, makedev(1, 3)) == 0 && status("device").st_rdev == makedev(1, 3));
    FAILS(EACCES, open("device", O_RDONLY));  // nodev
  } else {
    FAILS(EPERM, mknod("device", S_IFCHR | 0600, makedev(1, 3)));
  }
  HOLDS(unlink("fifo") == 0 && unlink("socket") == 0);
}

void check_renames(void) {
  check("rename_files");
  put("a", "a");
  put("b", "b");
  ino_t inode = status("a").st_ino;
  HOLDS(rename("a", "b") == 0 && has("b", "a") && status("b").st_ino == inode);
  FAILS(ENOENT, rename("a", "c"));
  HOLDS(rename("b", "b") == 0 && has("b", "a"));
  HOLDS(link("b", "c") == 0 && rename("b", "c") == 0 && status("b").st_ino == status("c").st_ino);
  check("rename_directories");
  HOLDS(mkdir("d", 0755) == 0 && mkdir("d/in", 0755) == 0 && mkdir("e", 0755) == 0 && mkdir("full", 0755) == 0);
  put("full/file", "x");
  FAILS(EINVAL, rename("d", "d/in/d"));
  FAILS(ENOTEMPTY, rename("d", "full"));
  FAILS(EISDIR, rename("b", "d"));
  FAILS(ENOTDIR, rename("d", "b"));
  nlink_t links = status(".").st_nlink;
  HOLDS(rename("d/in", "e") == 0 && status("d").st_nlink == 2 && status(".").st_nlink == links);
  HOLDS(rename("full", "d/full") == 0 && has("d/full/file", "x"));
  HOLDS(status("d").st_nlink == 3 && status(".").st_nlink == links - 1);
  check("rename_flags");
  put("x", "x");
  put("y", "y");
  FAILS(EEXIST, renameat2(AT_FDCWD, "x", AT_FDCWD, "y", RENAME_NOREPLACE));
  HOLDS(renameat2(AT_FDCWD, "x", AT_FDCWD, "z", RENAME_NOREPLACE) == 0 && has("z", "x"));
  HOLDS(renameat2(AT_FDCWD, "y", AT_FDCWD, "z", RENAME_EXCHANGE) == 0 && has("y", "x") && has("z", "y"));
  HOLDS(renameat2(AT_FDCWD, "y", AT_FDCWD, "d", RENAME_EXCHANGE) == 0 && has("d", "x") && has("y/full/file", "x"));
  FAILS(ENOENT, renameat2(AT_FDCWD, "y", AT_FDCWD, "none", RENAME_EXCHANGE));
  FAILS(EINVAL, renameat2(AT_FDCWD, "y", AT_FDCWD, "z", RENAME_EXCHANGE | RENAME_NOREPLACE));
  FAILS(EINVAL, renameat2(AT_FDCWD, "z", AT_FDCWD, "w", RENAME_WHITEOUT));
}

// What stays is listed exactly once, whatever comes and goes meanwhile; what came and went may be.
void check_listing(void) {
  char name[32];
  int seen[400] = {0}, others = 0;
  check("stable_listing");
  HOLDS(mkdir("many", 0755) == 0);
  for (int i = 0; i < 400; i++) {
    snprintf(name, sizeof name, "many/%d", i);
    put(name, "");
  }
  DIR *directory = opendir("many");
  HOLDS(directory != NULL);
  if (!directory) return;
  struct dirent *entry;
  for (int count = 0; (entry = readdir(directory)); count++) {
    int number = atoi(entry->d_name);
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') seen[number]++;
    else if (entry->d_name[0] != '.') others++;
    if (count % 10) continue;
    // Odd ones go, new ones come.
    snprintf(name, sizeof name, "many/%d", (count * 7) % 400 | 1);
    unlink(name);
    snprintf(name, sizeof name, "many/new%d", count);
    put(name, "");
  }
  int wrong = 0;
  for (int i = 0; i < 400; i++) wrong += i % 2 ? seen[i] > 1 : seen[i] != 1;
  HOLDS(wrong == 0);
  rewinddir(directory);
  int left = 0;
  while ((entry = readdir(directory))) left += entry->d_name[0] != '.';
  HOLDS(left > 200 && others <= 50);
  closedir(directory);
  check("removal_while_listing");
  directory = opendir("many");
  HOLDS(directory != NULL);
  if (!directory) return;
  while ((entry = readdir(directory)))
    if (entry->d_name[0] != '.') unlinkat(dirfd(directory), entry->d_name, 0);
  closedir(directory);
  HOLDS(rmdir("many") == 0);
}
