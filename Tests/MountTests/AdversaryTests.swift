import Testing

extension RealMounts {
  /// A second, hostile user tries each door, deletion and signal (docs/SECURITY.md).
  @Suite(.enabled(if: Machine.hasSetpriv, "needs root, unshare and setpriv to become two users"))
  struct Adversaries {
    private func succeeds(_ script: String) async throws {
      try await withTwoUsers(script) { finished in
        #expect(finished.succeeded, "\(finished.shellStatus)\n\(finished.text)\n\(finished.errorText)")
      }
    }

    @Test func aRuntimeDirectoryThatAnotherUserMadeIsNotThere() async throws {
      try await succeeds(
        """
        mkdir -m 700 homes/alice/precious; touch homes/alice/precious/{1,2,lock}; chown -R $ALICE homes/alice/precious
        runtime=/tmp/dataless-$ALICE
        mallory mkdir -m 777 $runtime $runtime/0:99999999; mallory touch $runtime/0:99999999/lock
        chmod 666 $runtime/0:99999999/lock; mallory mkfifo -m 666 $runtime/0:99999999/session.json
        trap_set mallory "$ADVERSARY" swap $runtime/0:99999999/session.json $runtime/0:99999999 $HOMES/alice/precious
        bounded alice env -u XDG_RUNTIME_DIR "$DATALESS" status
        # What is put there later is no better.
        mallory rm -rf $runtime/0:99999998; mallory ln -s $HOMES/alice/precious $runtime/0:99999998
        bounded alice env -u XDG_RUNTIME_DIR "$DATALESS" status
        [ "$(ls homes/alice/precious | wc -l)" = 3 ]
        # To mount is refused, with whose it is and what to do.
        status=0
        bounded alice env -u XDG_RUNTIME_DIR "$DATALESS" mount homes/alice/source homes/alice/volume 2> errors || status=$?
        [ $status = 1 ]; [ "$(wc -l < errors)" = 1 ]
        grep -q "belongs to user $MALLORY" errors; grep -q XDG_RUNTIME_DIR errors
        """)
    }

    @Test func aRuntimeDirectoryBelowOneThatOthersCanWriteToIsRefused() async throws {
      try await succeeds(
        """
        mkdir -m 777 shared; alice mkdir -m 700 shared/runtime
        status=0
        bounded alice env XDG_RUNTIME_DIR=$PWD/shared/runtime "$DATALESS" run homes/alice/source -- true 2> errors || status=$?
        [ $status = 125 ]; grep -q "shared' has mode 0777" errors
        ln -s /run/user/$ALICE shared/link; chown -h $MALLORY shared/link; chmod 755 shared
        status=0
        bounded alice env XDG_RUNTIME_DIR=$PWD/shared/link "$DATALESS" run homes/alice/source -- true 2> errors || status=$?
        [ $status = 125 ]; grep -q ELOOP errors
        """)
    }

    @Test(arguments: ["dataless", "other"])
    func unmountSignalsNobodyWhomAServerNames(subtype: String) async throws {
      try await succeeds(
        """
        sleep 1000 & victim=$!
        mallorys_mount \(subtype)
        trap_set mallory "$ADVERSARY" serve $DIRECTORY/control.sock $victim
        status=0; bounded "$DATALESS" unmount $MOUNT 2> errors || status=$?
        kill -0 $victim; [ $status = 1 ]; grep -q 'not its daemon' errors
        no grep -q " $MOUNT " /proc/self/mountinfo
        """)
    }

    @Test func unmountSignalsNobodyWhomARecordNames() async throws {
      try await succeeds(
        """
        sleep 1000 & victim=$!
        mallorys_mount dataless
        sed -i "s/\\"pid\\" *: *[0-9]*/\\"pid\\":$victim/" $DIRECTORY/session.json
        chown $MALLORY $DIRECTORY/session.json
        trap_set mallory "$ADVERSARY" hold $DIRECTORY/lock
        holder=$TRAP
        trap_set mallory "$ADVERSARY" hang $DIRECTORY/control.sock
        bounded "$DATALESS" unmount $MOUNT 2> errors || :
        kill -0 $victim
        # The process that the kernel names is ended: it holds the lock, and is the mount owner's.
        wait $holder || [ $? -gt 128 ]
        no grep -q " $MOUNT " /proc/self/mountinfo
        """)
    }

    @Test func unmountSignalsNobodyOfAnotherUserWhoHoldsTheLock() async throws {
      try await succeeds(
        """
        mallorys_mount dataless
        chmod 666 $DIRECTORY/lock
        # Root's own process, tricked into holding the lock.
        trap_set "$ADVERSARY" hold $DIRECTORY/lock
        holder=$TRAP
        trap_set mallory "$ADVERSARY" hang $DIRECTORY/control.sock
        status=0; bounded "$DATALESS" unmount $MOUNT 2> errors || status=$?
        kill -0 $holder; [ $status = 1 ]
        no grep -q " $MOUNT " /proc/self/mountinfo
        """)
    }

    /// What `mallorys_mount`'s volume answers from then on: `answer STATUS BODY`.
    private static let answers = """
      mallorys_mount dataless
      answer() {
        printf 'HTTP/1.1 %s\\r\\ncontent-type: application/json\\r\\ncontent-length: %d\\r\\n\\r\\n%s' \
          "$1" ${#2} "$2" > answer
      }
      error='{"error":{"code":"x","message":"m\\u001b]0;x\\u0007\\u009b2J"}}'
      problems='{"error":{"code":"x","message":"m\\u001b]0;x\\u0007","problems":[]}}'

      """

    @Test(arguments: ["problems", "error", "full"])
    func unmountIsNotTalkedOutOfIt(answer: String) async throws {
      try await succeeds(
        Self.answers + """
          answer '400 Bad Request' "$error"
          [ \(answer) != problems ] || answer '400 Bad Request' "$problems"
          if [ \(answer) = full ]; then
            trap_set mallory "$ADVERSARY" full $DIRECTORY/control.sock
          else
            trap_set mallory "$ADVERSARY" say $DIRECTORY/control.sock $PWD/answer
          fi
          status=0; bounded "$DATALESS" unmount $MOUNT > said 2> errors || status=$?
          no grep -q " $MOUNT " /proc/self/mountinfo
          [ $status = 1 ]; grep -q 'not its daemon' errors; [ "$(wc -l < errors)" = 1 ]
          """)
    }

    @Test func whoHidesWhileHoldingTheLockKeepsNoMount() async throws {
      try await succeeds(
        """
        mallorys_mount dataless
        trap_set mallory "$ADVERSARY" hide $DIRECTORY/lock
        status=0; bounded "$DATALESS" unmount $MOUNT 2> errors || status=$?
        no grep -q " $MOUNT " /proc/self/mountinfo
        [ $status = 1 ]; grep -q ESRCH errors; kill -0 $TRAP
        """)
    }

    @Test func noWordOfADaemonReachesTheTerminal() async throws {
      try await succeeds(
        Self.answers + """
          trap_set mallory "$ADVERSARY" say $DIRECTORY/control.sock $PWD/answer
          check() {
            for command in "status" "ls" "ls --json" "materialize" "evict" "refresh" "gate list" "gate open:x" "explain" \
              "log" "summary" "mark:x" "set:latency=1s" "scenario show" "scenario show:--json" "policy" "fault list" "offline"
            do
              set -- ${command%%:*} $MOUNT; case $command in *:*) set -- "$@" ${command#*:} ;; esac
              status=0; bounded "$DATALESS" "$@" > said 2> errors || status=$?
              [ $status -lt 100 ]
              case $command in log | summary) ;; *) [ $status != 0 ] ;; esac
              no grep -aqP '[\\x00-\\x08\\x0b-\\x1f\\x7f]|\\xc2[\\x80-\\x9f]' said errors
            done
          }
          answer '400 Bad Request' "$error"; check
          answer '422 Unprocessable' "$problems"; check
          answer "499 $(printf 'a\\033]0;x\\007')" 'x'; check
          answer '200 OK' '{"gates":[{"\\u001b[2J":1}],"\\u001b[2J":1}'; check
          answer '200 OK' '{"error":{"code":"x","errno":"EIO","message":"m\\u001b[2J","problems":[]}}'; check
          """)
    }

    @Test(arguments: ["dataless", "other"])
    func aPipeInAnotherUsersRuntimeDirectoryStopsNobody(subtype: String) async throws {
      try await succeeds(
        """
        mallorys_mount \(subtype)
        rm -f $DIRECTORY/{session.json,lock}; mallory mkfifo $DIRECTORY/{session.json,lock}
        bounded "$DATALESS" status > listed
        # Of another user's volume there is a line that says that its daemon was not asked.
        bounded "$DATALESS" status --json > listed
        if [ \(subtype) = dataless ]; then
          [ "$(wc -l < listed)" = 1 ]; grep -q '"asked":false' listed; grep -q "\\"mountpoint\\":\\"$MOUNT\\"" listed
          grep -q "\\"user_id\\":$MALLORY" listed
        else
          [ ! -s listed ]
        fi
        bounded "$DATALESS" mount --log $PWD/log root/source root/volume > /dev/null
        bounded cmp root/source/file root/volume/file
        bounded "$DATALESS" log root/volume | grep -q file
        bounded "$DATALESS" unmount root/volume
        # Those that are about her volume end, too.
        for command in status summary ls; do
          status=0; bounded "$DATALESS" $command $MOUNT 2> errors || status=$?
          [ $status != 0 ]; [ $status -lt 100 ]; [ "$(wc -l < errors)" = 1 ]
        done
        bounded "$DATALESS" unmount $MOUNT || [ \(subtype) = other ]
        """)
    }

    @Test func aRecordOfAnotherUserLeadsNoCommandToAnyFile() async throws {
      try await succeeds(
        """
        mallorys_mount dataless
        mkfifo -m 666 homes/mallory/pipe; echo secret > root/secret; chmod 600 root/secret
        for log in $HOMES/mallory/pipe $WORLD/root/secret; do
          sed -i "s|\\"log\\" *: *\\"[^\\"]*\\"|\\"log\\":\\"$log\\"|" $DIRECTORY/session.json
          chown $MALLORY $DIRECTORY/session.json
          for command in log summary; do
            status=0; bounded "$DATALESS" $command $MOUNT > said 2> errors || status=$?
            [ $status = 1 ] || [ $status = 3 ]; no grep -q secret said
          done
        done
        """)
    }

    @Test func aServerOfAThirdUserIsNotBelieved() async throws {
      try await succeeds(
        """
        alice "$DATALESS" mount homes/alice/source homes/alice/volume > /dev/null
        directory=$(echo /run/user/$ALICE/dataless/*:*)
        mkdir -m 777 /run/open; trap_set mallory "$ADVERSARY" serve /run/open/socket 1
        mv $directory/control.sock $directory/own.sock; mv /run/open/socket $directory/control.sock
        status=0; bounded alice "$DATALESS" status homes/alice/volume 2> errors || status=$?
        [ $status = 3 ]; grep -q "user $MALLORY serves" errors
        mv $directory/own.sock $directory/control.sock
        bounded alice "$DATALESS" unmount homes/alice/volume
        """)
    }

    @Test func ordinaryUsersLookAtNothingOfOthers() async throws {
      try await succeeds(
        """
        mallorys_mount dataless
        trap_set mallory "$ADVERSARY" serve $DIRECTORY/control.sock 1
        chmod 755 /run/user/$MALLORY /run/user/$MALLORY/dataless $DIRECTORY
        bounded alice "$DATALESS" status --json > listed; [ ! -s listed ]
        status=0; bounded alice "$DATALESS" status $MOUNT 2> errors || status=$?
        [ $status = 1 ]; grep -q EPERM errors
        status=0; bounded alice "$DATALESS" unmount $MOUNT 2> errors || status=$?
        [ $status = 1 ]; grep -q EPERM errors; grep -q " $MOUNT " /proc/self/mountinfo
        """)
    }

    @Test(arguments: ["symbolic", "hard", "pipe", "foreign"])
    func aLogThatAnotherUserPreparedIsNotWritten(kind: String) async throws {
      try await succeeds(
        """
        echo precious > root/precious; cp root/precious before; log=homes/mallory/log.jsonl
        case \(kind) in
          symbolic) mallory ln -s $WORLD/root/precious $log ;;
          hard) ln root/precious $log ;;
          pipe) mallory mkfifo $log ;;
          foreign) mallory cp root/precious $log ;;
        esac
        status=0; bounded "$DATALESS" mount --log $log root/source root/volume > said 2> errors || status=$?
        [ $status = 1 ]; [ "$(wc -l < errors)" = 1 ]; grep -q 'log' errors
        cmp before root/precious; [ \(kind) != foreign ] || cmp before $log
        no grep -q " $WORLD/root/volume " /proc/self/mountinfo
        """)
    }

    @Test func aCacheThatOthersCanChangeIsNotUsed() async throws {
      try await succeeds(
        """
        mallory mkdir homes/mallory/cache; mkdir -m 777 open; mkdir real; mallory ln -s $WORLD/real homes/mallory/link
        for cache in homes/mallory/cache open homes/mallory/link; do
          status=0
          bounded "$DATALESS" mount --log $PWD/log --cache-dir $cache root/source root/volume > said 2> errors || status=$?
          [ $status = 1 ]; grep -q 'cache' errors; [ -z "$(ls real open homes/mallory/cache)" ] || ls real open
        done
        # Below a directory of hers it is root's own: that will do.
        bounded "$DATALESS" mount --log $PWD/log --cache-dir homes/mallory/below root/source root/volume > said
        bounded "$DATALESS" unmount root/volume
        """)
    }

    @Test func aRecordSteersNoDeletion() async throws {
      try await succeeds(
        """
        mkdir -p -m 700 precious/0123456789ab precious/other /run/dataless/0:9999999{8,9}; chmod 700 /run/dataless
        touch precious/0123456789ab/file precious/other/file precious/file; touch /run/dataless/0:9999999{8,9}/lock
        # What looks like the content of a dead session, but the record is of another one's.
        mkdir -p -m 700 another/fedcba987654; touch another/fedcba987654/{lock,file}
        record() {
          printf '{"pid":1,"session":"0123456789ab","mountpoint":"/","source":"/","log":"/l","started":"",%s}' \\
            "\\"cache\\":\\"$2\\"" > /run/dataless/0:$1/session.json
        }
        record 99999998 $PWD/another/other; record 99999999 $PWD/precious/0123456789ab
        find precious another | sort > before
        bounded "$DATALESS" status
        find precious another -name .lock -o -print | sort | cmp - before; [ ! -e /run/dataless/0:99999999 ]
        """)
    }

    @Test func rootOfAUserNamespaceUsesItsOwnRuntimeDirectory() async throws {
      try await succeeds(
        """
        alice unshare -Urm true || exit 0
        bounded alice unshare -Urm "$DATALESS" run homes/alice/source -- cat {}/file > said
        grep -q text said
        [ -z "$(ls -A /run/user/$ALICE/dataless)" ]
        """)
    }

    @Test func aReadOnlyRunIsNamed() async throws {
      try await succeeds(
        """
        mount -o remount,ro /run
        status=0; bounded "$DATALESS" run root/source -- true 2> errors || status=$?
        [ $status = 125 ]; grep -q "'/run' is read-only" errors; no grep -q XDG_RUNTIME_DIR errors
        """)
    }
  }
}
