import Glibc
import Testing

extension RealMounts {
  /// Callers whose stacks cannot be had, or not without harm, and callers of other users.
  @Suite struct StackDangers {
    /// A thread faults on a mapped file that is held, another one maps that file again: until the reply whoever reads
    /// the memory of the process waits with it, and cannot be killed (S14). The capture process looks for such threads,
    /// but not among more than 1,024.
    static let hung = """
      #include <fcntl.h>
      #include <pthread.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <string.h>
      #include <sys/mman.h>
      #include <sys/syscall.h>
      #include <unistd.h>
      static const char *path;
      static volatile char sink;
      static volatile int faulting, mapping;
      static char name[64], text[256];
      static void *idle(void *unused) { for (;;) pause(); return unused; }
      static void *fault(void *place) {
        faulting = (int)syscall(SYS_gettid);
        sink = *(volatile char *)place;
        return NULL;
      }
      static void *map(void *unused) {
        int file = open(path, O_RDONLY);
        mapping = (int)syscall(SYS_gettid);
        mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
        return unused;
      }
      static void wait_for(volatile int *thread, const char *what, const char *part) {
        do {
          while (*thread == 0) sched_yield();
          snprintf(name, sizeof name, "/proc/self/task/%d/%s", *thread, what);
          int file = open(name, O_RDONLY);
          ssize_t count = read(file, text, sizeof text - 1);
          close(file);
          text[count > 0 ? count : 0] = 0;
        } while (strstr(text, part) == NULL);
      }
      int main(int count, char **words) {
        (void)count;
        path = words[2];
        memset(name, 1, sizeof name);
        memset(text, 1, sizeof text);
        pthread_attr_t small;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 65536);
        pthread_t thread, waits;
        for (int left = atoi(words[1]); left > 0; left--) pthread_create(&thread, &small, idle, NULL);
        int file = open(path, O_RDONLY);
        void *place = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
        pthread_create(&waits, &small, fault, place);
        wait_for(&faulting, "syscall", "-1 ");
        pthread_create(&thread, &small, map, NULL);
        wait_for(&mapping, "wchan", "folio");
        write(1, "mapped\\n", 7);
        pthread_join(waits, NULL);
        return 0;
      }
      """

    private static func build(_ scratch: Scratch, _ name: String, _ text: String) async throws -> String {
      try scratch.file("../\(name).c", content: text.utf8)
      return try await scratch.shell(
        "cc -O1 -g -fno-optimize-sibling-calls -pthread -o '\(scratch.root)/\(name)' '\(scratch.root)/\(name).c' "
          + "&& printf %s '\(scratch.root)/\(name)'")
    }

    private static func source(_ scratch: Scratch) throws {
      for name in ["p1", "p2"] { try scratch.file(name, size: 5000) }
    }

    @Test(arguments: [(10, "memory_locked"), (1100, "abandoned")])
    func aReaderThatHangsIsLeftBehind(threads: Int, outcome: String) async throws {
      try await withScenario(Stacks.scenario, source: Self.source) { volume in
        let program = try await Self.build(volume.scratch, "hung", Self.hung)
        let child = try Child([program, "\(threads)", volume.path("p1")])
        #expect(await child.line() == "mapped")
        let caller = try await volume.json("stack", volume.mountpoint, "--pid", "\(child.pid)")
        #expect(caller["outcome"]?.string == outcome && caller["stack"] == nil)
        // The daemon goes on, and so do stacks, by another process.
        let culprit = try await Self.build(volume.scratch, "culprit", Stacks.program)
        let other = try Child([culprit, volume.path("p2")])
        try await volume.waitForCallers(2, at: "g")
        let stack = try await volume.json("stack", volume.mountpoint, "--pid", "\(other.pid)")
        #expect(stack["outcome"]?.string == "ok" && stack["stack"]?["complete"]?.bool == true)
        try await volume.done("gate", "release", volume.mountpoint, "g")
        #expect(await child.wait().succeeded)
        #expect(await other.wait().succeeded)
      }
    }

    /// Root's daemon: what parses the caller's files is the caller's user by then.
    @Test(.enabled(if: Machine.hasSetpriv, "needs root and setpriv")) func aCallerOfAnotherUser() async throws {
      try await withScenario(Stacks.scenario, ["--allow-other"], source: Self.source) { volume in
        let program = try await Self.build(volume.scratch, "culprit", Stacks.program)
        let user = ["setpriv", "--reuid", Machine.ordinaryID, "--regid", Machine.ordinaryID, "--clear-groups"]
        let child = try Child(user + [program, volume.path("p1")])
        try await volume.waitForCallers(1, at: "g")
        let caller = try await volume.json("stack", volume.mountpoint)
        #expect(caller["outcome"]?.string == "ok")
        let lines = (caller["stack"]?["frames"]?.array ?? []).compactMap { $0["line"]?.int }
        #expect(lines.contains(7) && lines.contains(11), "\(lines)")
        let daemon = try #require(try await volume.status()["pid"]?.int)
        let owners = try await volume.scratch.shell(
          "for c in $(cat /proc/\(daemon)/task/*/children); do for s in $(cat /proc/$c/task/*/children); do "
            + "grep ^Uid: /proc/$s/status; done; done")
        #expect(owners.split(whereSeparator: \.isWhitespace).contains { $0 == Machine.ordinaryID }, "\(owners)")
        try await volume.done("gate", "release", volume.mountpoint, "g")
        #expect(await child.wait().succeeded)
      }
    }

    /// An ordinary user's daemon: the user's own programs, but not those that the kernel keeps from being looked at.
    @Test(.enabled(if: !Machine.isRoot || Machine.hasSetpriv, "needs unshare and setpriv to become one"))
    func anOrdinaryUsersDaemon() async throws {
      try await withOrdinaryUser(
        """
        for i in 1 2; do head -c 5000 /dev/zero > source/p$i; done
        cat > culprit.c <<'END'
        #include <sys/prctl.h>
        \(Stacks.program)
        __attribute__((constructor)) static void hide(int count) { if (count > 2) prctl(PR_SET_DUMPABLE, 0); }
        END
        cc -O1 -g -fno-optimize-sibling-calls -o culprit culprit.c
        printf 'rules:\\n  - {match: {path: "p*"}, gate: g}\\n' > s.yaml
        "$DATALESS" mount --scenario s.yaml --stacks all --log log.jsonl source volume
        ./culprit volume/p1 &
        "$DATALESS" gate wait volume g --callers 1
        "$DATALESS" stack volume > said; grep -q 'load_thumbnail (culprit.c:8)' said || { cat said; exit 1; }
        "$DATALESS" gate release volume g; wait
        ./culprit hidden volume/p2 &
        "$DATALESS" gate wait volume g --callers 1
        "$DATALESS" stack volume > said; grep -q 'may not look' said || { cat said; exit 1; }
        "$DATALESS" gate release volume g; wait
        "$DATALESS" unmount volume
        grep '"wait.stack"' log.jsonl | grep -q '"outcome":"not_permitted"'
        """
      ) { finished in
        #expect(finished.succeeded, "\(finished.shellStatus)\n\(finished.text)\n\(finished.errorText)")
      }
    }
  }
}
