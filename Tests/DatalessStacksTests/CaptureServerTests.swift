import Glibc
import Testing

@testable import DatalessStacks

/// From an order to a named stack, through both processes.
@Suite struct CaptureServerTests {
  private static func stack(_ answer: CaptureAnswer) throws -> NamedStack {
    guard case .stack(let stack) = answer else { throw BlockedProgram.Failure(what: "\(answer)") }
    return stack
  }

  private static func lines(_ stack: NamedStack) -> [String] {
    stack.frames.map { "\(String(decoding: $0.symbol, as: UTF8.self)):\($0.line)" }
  }

  private static let named = [
    "inner:3", "middle:4", "recursive:5", "recursive:5", "recursive:5", "recursive:5", "main:6",
  ]

  @Test func aBlockedProgramIsNamed() throws {
    let program = try BlockedProgram(options: ["-O1", "-g", "-fno-optimize-sibling-calls"])
    let served = try ServedStacks()
    // The second one out of the caches.
    for _ in 0..<2 {
      let stack = try Self.stack(try served.stack(of: program))
      #expect(stack.isComplete)
      let lines = Self.lines(stack)
      let first = try #require(lines.firstIndex(of: "inner:3"), "\(lines)")
      #expect(Array(lines[first...].prefix(Self.named.count)) == Self.named)
      #expect(stack.frames[first].module.elementsEqual((program.directory + "/p").utf8))
      #expect(stack.frames[first].buildID != nil)
      #expect(stack.interpreted == nil)
    }
  }

  @Test func inlinedFunctionsAreFramesWithTheLinesOfTheirCalls() throws {
    let program = try BlockedProgram(
      source: """
        #include <unistd.h>
        static char byte;
        static inline __attribute__((always_inline)) long innermost(void) {
          return read(0, &byte, 1);
        }
        static inline __attribute__((always_inline)) long middle(void) {

          return innermost() + 1;
        }
        int main(void) {
          return (int)middle() & 1;
        }
        """, options: ["-O2", "-g"])
    let stack = try Self.stack(try ServedStacks().stack(of: program))
    let own = stack.frames.filter { $0.module.elementsEqual((program.directory + "/p").utf8) && $0.line > 0 }
    #expect(own.map { String(decoding: $0.symbol, as: UTF8.self) } == ["innermost", "middle", "main"])
    #expect(own.map(\.line) == [4, 8, 11] && own.map(\.isInlined) == [true, true, false])
    #expect(Set(own.map(\.offset)).count == 1 && stack.isComplete)
  }

  @Test func aProcessWhoseFirstThreadHasEndedIsNamed() throws {
    let program = try BlockedProgram(
      source: """
        #include <pthread.h>
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>
        static volatile char byte;
        static int first_thread_has_ended(void) {
          char path[64], text[256] = "";
          snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
          FILE *stream = fopen(path, "r");
          if (stream == NULL || fgets(text, sizeof text, stream) == NULL) _exit(1);
          fclose(stream);
          return strstr(text, ") Z") != NULL;
        }
        __attribute__((noinline)) static long load(void) {
          char b = 0;
          long r = read(0, &b, 1);
          byte = b;
          return r + byte;
        }
        static void *go_on(void *nothing) {
          while (!first_thread_has_ended()) continue;
          _exit((int)load() & 1);
          return nothing;
        }
        int main(void) {
          pthread_t thread;
          pthread_create(&thread, NULL, go_on, NULL);
          pthread_exit(NULL);
        }
        """, options: ["-O1", "-g", "-pthread"])
    #expect(program.threadID != program.processID)
    let stack = try Self.stack(try ServedStacks().stack(of: program))
    let own = stack.frames.filter { $0.module.elementsEqual((program.directory + "/p").utf8) }
    #expect(own.map { "\(String(decoding: $0.symbol, as: UTF8.self)):\($0.line)" } == ["load:16", "go_on:22"])
    // Its perf map is that of the process.
    #expect(CallerIdentity.innermostNumber(of: program.threadID) == program.processID)
    #expect(CaptureOrder(processID: 1, threadID: program.threadID, volumes: []).throughThread() == nil)
  }

  /// What root's groups may read is nothing that a caller may.
  @Test(.enabled(if: geteuid() == 0, "needs root")) func filesOfACallerAreOpenedWithoutOtherGroups() throws {
    let (here, there) = try #require(StackSocket.pair())
    // A thread of its own: its groups do not come back.
    ServedStacks.thread(there) { socket in
      let groups = CallerIdentity(user: 65_534, group: 65_534).reading(otherwise: nil) { () -> Int? in
        ProcessFile.bytes("thread-self/status", limit: 64 << 10).flatMap { CallerIdentity.line("Groups:", $0)?.count }
      }
      try? socket.send(StackMessage(.read, number: groups.map { UInt64($0) } ?? .max))
    }
    #expect(try here.receive().message.number == 0)
  }

  /// Which functions are inlined stands in a file that is not read: a line counts if it is in the function's own text.
  @Test(arguments: ["-gdwarf-4", "-gdwarf-5"]) func splitDebugInformationGivesNoLineOfAnotherFunction(
    version: String
  ) throws {
    let program = try BlockedProgram(
      source: """
        #include <unistd.h>
        static char byte;
        static inline __attribute__((always_inline)) long innermost(void) {
          return read(0, &byte, 1);
        }
        __attribute__((noinline)) long load(void) {
          return innermost() + 1;
        }
        int main(void) {
          return (int)load() & 1;
        }
        """, options: ["-O2", "-g", version, "-gsplit-dwarf"])
    let stack = try Self.stack(try ServedStacks().stack(of: program))
    #expect(Self.lines(stack).contains("load:0"), "\(Self.lines(stack))")
    #expect(Self.lines(stack).contains("main:10"), "\(Self.lines(stack))")
  }

  /// What a function begins with may be inlined: the last of several rows for its first instruction is another's.
  @Test(arguments: ["-gdwarf-4", "-gdwarf-5"], ["-O2", "-O3", "-Os"])
  func aFunctionThatBeginsWithAnInlinedOneHasNoLineOfIt(version: String, level: String) throws {
    let program = try BlockedProgram(
      source: """
        #include <stdio.h>
        #include <unistd.h>
        static char byte;
        static int load(const char *path, char *b) {
          if (path == NULL)
            return 0;
          int n = read(0, b, 1);
          b[0]++;
          return n;
        }
        __attribute__((noinline)) int show(const char *path, char *b) {
          if (load(path, b) == 0 || b[0] == 0)
            return 1;
          puts(b);
          return 0;
        }
        int main(int count, char **words) {
          (void)count;
          int r = show(words[0], &byte);
          byte = 2;
          return r;
        }
        """, options: [level, "-g", version, "-gsplit-dwarf"])
    let lines = Self.lines(try Self.stack(try ServedStacks().stack(of: program)))
    let first = try #require(lines.firstIndex { $0.hasPrefix("show") }, "\(lines)")
    #expect(Array(lines[first...].prefix(2)) == ["show:0", "main:19"], "\(lines)")
  }

  /// What is inlined lies behind the function this time.
  @Test(arguments: ["-gdwarf-4", "-gdwarf-5"], ["-O0", "-O2"])
  func splitDebugInformationGivesTheLinesOfAFunctionsOwnText(version: String, level: String) throws {
    let program = try BlockedProgram(
      source: """
        #include <unistd.h>
        static char byte;
        static inline __attribute__((always_inline)) long innermost(void);
        __attribute__((noinline)) long load(long n) {
          return innermost() + n;
        }
        static inline __attribute__((always_inline)) long innermost(void) {
          return read(0, &byte, 1);
        }
        __attribute__((noinline)) long caller(long n) {
          long r = load(n);
          return r * 3;
        }
        int main(int count, char **words) {
          (void)words;
          return (int)caller(count) & 1;
        }
        """, options: [level, "-g", version, "-gsplit-dwarf"])
    let lines = Self.lines(try Self.stack(try ServedStacks().stack(of: program)))
    let first = try #require(lines.firstIndex(of: "load:0"), "\(lines)")
    #expect(Array(lines[first...].prefix(3)) == ["load:0", "caller:11", "main:16"], "\(lines)")
  }

  /// libdw's own search leaves out what lies in a namespace: in programs of clang, and all of Rust.
  @Test(.enabled(if: BlockedProgram.isInstalled("clang"), "needs clang"))
  func functionsInNamespacesHaveTheirOwnLine() throws {
    let program = try BlockedProgram(
      source: """
        #include <unistd.h>
        static char byte;
        namespace shelf {
          namespace inner {
            static inline __attribute__((always_inline)) long innermost(void) {
              return read(0, &byte, 1);
            }
            __attribute__((noinline)) long load(void) {
              return innermost() + 1;
            }
          }
        }
        int main(void) {
          return (int)shelf::inner::load() & 1;
        }
        """, options: ["-x", "c++", "-O2", "-g"], compiler: "clang")
    let stack = try Self.stack(try ServedStacks().stack(of: program))
    let own = stack.frames.filter { $0.module.elementsEqual((program.directory + "/p").utf8) && $0.line > 0 }
    #expect(own.map(\.line) == [6, 9, 14] && own.map(\.isInlined) == [true, false, false])
    let names = own.map { String(decoding: $0.symbol, as: UTF8.self) }
    #expect(names.count == 3 && names[0].contains("innermost") && names[1].contains("load") && names[2] == "main")
  }

  /// As distributions do it: `objcopy --only-keep-debug`, `strip`, and a link by name and checksum.
  @Test(arguments: [true, false]) func linesComeFromADebugFileOfTheSameBuild(isSameBuild: Bool) throws {
    let program = try BlockedProgram(
      options: ["-O1", "-g", "-fno-optimize-sibling-calls", "-Wl,--build-id=none"], isStripped: true,
      spoilsDebugFile: !isSameBuild)
    let stack = try Self.stack(try ServedStacks().stack(of: program))
    #expect(stack.isComplete)
    #expect(Self.lines(stack).contains("inner:3") == isSameBuild, "\(Self.lines(stack))")
  }

  @Test func anInterpretersFunctionsAreThereTheFirstTime() throws {
    let program = try BlockedProgram(python: "import os\ndef load():\n    return os.read(0, 1)\nload()\n")
    let stack = try Self.stack(try ServedStacks().stack(of: program))
    let python = try #require(stack.interpreted)
    #expect(!python.isReadable || python.frames.map(\.line) == [3, 4])
  }

  @Test func mountsThatOnlyTheCallerSees() throws {
    let text = """
      22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
      90 22 0:51 / /mnt/a\\040b rw,nosuid - fuse.dataless /src rw
      91 22 0:52 / /mnt/b rw shared:3 master:4 - fuse.sshfs host: rw

      """
    let devices = [DeviceNumber(major: 0, minor: 51), DeviceNumber(major: 0, minor: 52)]
    #expect(FuseMounts.devices(Array(text.utf8)) == Set(devices))
    for bad in ["22 1 8:1 / / rw ext4\n", "22 1 8 / / rw - ext4 x rw\n", "x\n", "1 2 8:1 / / rw x -\n"] {
      #expect(FuseMounts.devices(Array(bad.utf8)) == nil, "\(bad)")
    }
    #expect(FuseMounts.devices(seenBy: getpid()) != nil)
    // Those of the capture's own namespace count, too.
    let order = CaptureOrder(processID: 1, threadID: 1, volumes: [devices[0]])
    #expect(Set(order.adding(volumes: [devices[1]]).volumes) == Set(devices))
  }

  @Test func aProcessThatEndsHasNoStack() throws {
    let program = try BlockedProgram(options: ["-O0"])
    let served = try ServedStacks()
    kill(program.processID, SIGKILL)
    guard case .failure = try served.stack(of: program) else {
      Issue.record("a stack of a process that has ended")
      return
    }
  }

  /// What parses a caller's files may be the caller's by now.
  @Test(
    arguments: [
      [], Array(repeating: 0xff, count: 64), StackMessage(.named, number: 1, content: [1, 2, 3]).bytes,
      StackMessage(.named, number: 99, content: []).bytes, StackMessage(.capture, number: 1).bytes,
      StackMessage(.findDebugFile, number: 1, content: [1]).bytes, StackMessage(.identity, number: 1).bytes,
    ] as [[UInt8]])
  func aSymbolProcessThatGoesWrongCostsOneStack(words: [UInt8]) throws {
    let program = try BlockedProgram(options: ["-O0"])
    let served = try ServedStacks { socket in
      _ = try? socket.receive()
      write(socket.descriptor, words, words.count)
    }
    #expect(try served.stack(of: program) == .failure(.symbolsUnavailable))
    // Another one is started.
    #expect(try served.stack(of: program) == .failure(.symbolsUnavailable))
  }

  /// A question leads to no file that it names itself.
  @Test func aDebugFileIsLookedForWhereDebugFilesAre() throws {
    let program = try BlockedProgram(options: ["-O0"])
    let path = Array((program.directory + "/p").utf8)
    let root = try #require(CallerRoot(of: program.processID))
    for link in ["../../etc/passwd", "/etc/passwd", ".", "..", "", "p"] {
      let question = DebugFileQuestion(file: CallerFiles.perfMap, buildID: [1], link: Array(link.utf8))
      #expect(CallerFiles.openDebugFile(question, path, below: root) == nil, "\(link)")
    }
  }
}

extension StackMessage {
  var bytes: [UInt8] { head + content }
}
