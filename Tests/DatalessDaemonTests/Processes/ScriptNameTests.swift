import Testing

@testable import DatalessDaemon

/// What is told of an interpreter's arguments, and what must never be.
@Suite struct ScriptNameTests {
  private func script(_ line: [String], exe: String? = nil, isTruncated: Bool = false) -> String? {
    ScriptName.find(
      in: line.map { Array($0.utf8) }, isTruncated: isTruncated, executable: Array((exe ?? line[0]).utf8)
    ).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(
    arguments: [
      (["bash", "build.sh", "all"], "build.sh"), (["/bin/sh", "-eu", "./ci/build.sh"], "build.sh"),
      (["bash", "-euo", "pipefail", "-x", "a.sh"], "a.sh"), (["dash", "+x", "a.sh"], "a.sh"),
      (["zsh", "--", "-odd"], "-odd"), (["python3", "--", "s.py"], "s.py"), (["lua", "--", "s.lua"], "s.lua"),
      (["sh", "-", "a.sh"], "a.sh"), (["bash", "--norc", "a.sh"], "a.sh"),
      (["/usr/bin/python3.12", "-u", "-W", "error", "tool.py", "--token=SECRET"], "tool.py"),
      (["python3", "-Wignore", "tool.py"], "tool.py"), (["python3", "-uXdev", "-Wm", "tool"], "tool"),
      (["ruby", "-W0", "-rSECRET", "tool.rb"], "tool.rb"), (["ruby", "-W", "tool.rb"], "tool.rb"),
      (["python3", "-Bsu", "-X", "dev", "dir/s.py"], "s.py"), (["python3", "-m", "pytest", "-k", "SECRET"], "pytest"),
      (["node", "--max-old-space-size=99", "--inspect", "app/server.js", "SECRET"], "server.js"),
      (["perl5.36.0", "-w", "x.pl"], "x.pl"), (["ruby3.2", "-w", "x.rb"], "x.rb"), (["php", "x.php"], "x.php"),
      (["python3", "caf\u{e9}.py"], "caf\u{e9}.py"), (["python3", "-Im", "json.tool", "SECRET"], "json.tool"),
      (["python3", "-mjson.tool", "SECRET"], "json.tool"), (["python3", "-Bumpytest"], "pytest"),
      (["perl", "-Mstrict", "-I", "SECRET", "x.pl"], "x.pl"), (["perl", "-Ilib", "-w", "x.pl"], "x.pl"),
      (["ruby", "-r", "SECRET", "-Ilib", "x.rb"], "x.rb"),
      (["node", "-r", "SECRET", "x.js"], "x.js"), (["node", "--require", "SECRET", "a/x"], "x"),
      (["node", "--import=SECRET", "--loader", "SECRET", "-C", "dev", "x.mjs", "SECRET"], "x.mjs"),
      (["node", "--perf-basic-prof", "server"], "server"), (["node", "--unknown", "--other=SECRET", "x.cjs"], "x.cjs"),
    ] as [([String], String)])
  func scriptsAreNamed(line: [String], name: String) { #expect(script(line) == name) }

  /// People choose such names; what could be a secret in one is still not told.
  @Test(arguments: [
    "my tool.py", "a&b.py", "a;b.py", "copy (1).js", "Bob's.rb", "me@home.sh", "a  b.pl", "x - copy.py",
  ])
  func scriptsMayHaveSpacesAndMarks(name: String) {
    #expect(script(["python3", name, "SECRET"]) == name)
    #expect(script(["bash", "-x", "dir with spaces/\(name)"]) == name)
    // Not where an option may have it for its value.
    #expect(script(["node", "--unknown", name]) == nil)
    // And what does not end as scripts do is not told.
    #expect(script(["bash", name + " SECRET"]) == nil)
  }

  @Test(arguments: [
    "TOKEN=SECRET run.sh", "curl -u me SECRET.sh", "u:SECRET@host.sh", "$(SECRET).sh", "`SECRET`.sh", "SECRET | a.sh",
    "SECRET > a.sh", "{SECRET} a.sh", "SECRET\na.sh", "\u{1b}SECRET.sh", "\u{7f} a.sh",
  ])
  func codeThatEndsAsScriptsDoIsNone(name: String) { #expect(script(["bash", name]) == nil) }

  @Test(
    arguments: [
      ["bash", "-c", "curl --token=SECRET", "SECRET"], ["bash", "-ec", "SECRET"], ["sh", "-lc", "SECRET"],
      ["bash", "-x", "-c", "SECRET"], ["bash", "-s", "SECRET"], ["bash", "-es", "SECRET"],
      ["bash", "--rcfile", "SECRET", "a.sh"], ["bash", "--secret", "SECRET"], ["bash", "-Z", "SECRET"],
      ["bash", "-oc", "SECRET", "SECRET"], ["bash"], ["bash", "-"], ["bash", "--"],
      ["python3", "-c", "SECRET"], ["python3", "-uc", "SECRET", "s.py"], ["python3", "-cSECRET", "SECRET"],
      ["python3", "-", "SECRET"], ["python3", "-m-SECRET"], ["python3", "-Wm", "-c", "SECRET"],
      ["perl", "-M", "SECRET"], ["perl", "-MX", "-e", "SECRET"], ["python3", "-WX"],
      ["python3", "-m", "a SECRET"], ["python3", "-m"],
      ["python3", "--check-hash-based-pycs", "SECRET", "s.py"],
      ["node", "-e", "SECRET"], ["node", "-p", "SECRET"], ["node", "--eval=1", "SECRET"],
      ["node", "-", "SECRET"], ["node", "--unknown=a", "SECRET"], ["node", "--unknown", "SECRET"],
      ["node", "--print", "SECRET", "x.js"], ["node", "--eval", "SECRET.js"], ["node", "-pe", "SECRET.js"],
      ["node", "-r", "SECRET"], ["node", "-rSECRET", "x.js"], ["bash", "--unknown", "SECRET.sh"],
      ["perl", "-e", "SECRET"], ["perl", "-ne", "SECRET", "SECRET"], ["perl", "-pi.bak", "SECRET"],
      ["perl", "-E", "SECRET"],
      ["ruby", "-e", "SECRET"], ["ruby", "-rSECRET", "-e", "SECRET"], ["php", "-r", "SECRET"],
      ["php", "-d", "SECRET", "x.php"], ["php", "--", "SECRET"], ["php8.3", "--", "SECRET", "x.php"],
      ["tclsh", "--", "SECRET"], ["wish8.6", "--", "SECRET"],
      ["lua", "-e", "SECRET"], ["lua", "-l", "SECRET"],
      ["curl", "SECRET"], ["env", "X=SECRET", "python3", "s.py"], ["busybox", "sh", "SECRET"], ["sudo", "SECRET"],
      ["bash", "curl --token=SECRET"], ["bash", "TOKEN=SECRET"], ["bash", "https://u:SECRET@host/x.sh?SECRET=1"],
      ["bash", "SECRET$(x)"], [],
    ] as [[String]])
  func codeAndValuesAreNot(line: [String]) { #expect(script(line, exe: line.first ?? "/bin/sh") == nil) }

  @Test func theExecutableDecidesWhetherItIsAnInterpreter() {
    #expect(script(["bash", "SECRET"], exe: "/usr/bin/my-tool") == nil)
    #expect(script(["tool", "x.py"], exe: "/usr/bin/python3") == "x.py")
    // What may be cut is not told.
    #expect(script(["bash", "build.sh"], isTruncated: true) == nil)
    #expect(script(["bash", "build.sh", "x"], isTruncated: true) == "build.sh")
  }

  @Test func commandsAreToldBeforeTheyCall() {
    func words(_ policy: ArgumentPolicy, _ line: String...) -> String {
      let (words, isWithheld) = policy.words(of: line.map { Array($0.utf8) })
      return words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ") + (isWithheld ? " ..." : "")
    }
    #expect(words(.all, "sh", "-c", "SECRET") == "sh -c SECRET")
    #expect(words(.callers, "sh", "-c", "SECRET") == "sh ...")
    #expect(words(.callers, "python3", "a/s.py", "SECRET") == "python3 s.py ...")
    #expect(words(.none, "python3", "a/s.py", "SECRET") == "python3 ...")
    #expect(words(.none, "true") == "true")
  }
}
