"""FuseKit, and CDataless."""

from harness.lists import Part

kit = Part("Sources/FuseKit", ["^FuseKitTests\\."])
kit.add(
    "full-buffer-refused", "DirectoryBuffer.swift", "an entry that fills the buffer exactly does not fit",
    "bytes <= capacity - count else", "bytes <= capacity - count - (FAULT ? 1 : 0) else", tests=["DirectoryBufferTests"])
kit.add(
    "padding-uninitialized", "DirectoryBuffer.swift", "bytes of the daemon's memory are sent after names",
    "entry.storeBytes(of: 0, toByteOffset: padded - 8, as: UInt64.self)",
    "if !FAULT { entry.storeBytes(of: 0, toByteOffset: padded - 8, as: UInt64.self) }", tests=["DirectoryBufferTests"])
kit.add(
    "init-of-another", "InitNegotiation.swift", "an answer to another request is taken for that to INIT",
    "guard out.unique == offer.unique, out.error == 0", "guard FAULT || out.unique == offer.unique, out.error == 0",
    tests=["InitNegotiationTests"])
kit.add(
    "unoffered-asked-for", "InitNegotiation.swift", "features are asked for that the kernel did not offer",
    "flags |= wanted & offer", "flags |= FAULT ? wanted : wanted & offer", tests=["InitNegotiationTests"])
kit.add(
    "no-stack-depth", "InitNegotiation.swift", "passthrough is asked for without a stack depth",
    "reply.max_stack_depth = 1", "reply.max_stack_depth = FAULT ? 0 : 1", tests=["InitNegotiationTests"])
kit.add(
    "xattr-one-byte-short", "Replies/DataReplies.swift", "a value that fits exactly is ERANGE",
    "public consuming func value(_ bytes: [UInt8]) -> Bool {\n"
    "    if size == 0 { return pending.send(xattrSize: bytes.count) }\n    return bytes.count <= size ?",
    "public consuming func value(_ bytes: [UInt8]) -> Bool {\n"
    "    if size == 0 { return pending.send(xattrSize: bytes.count) }\n    return bytes.count <= size - (FAULT ? 1 : 0) ?",
    mounts=["RealMounts/Metadata/"])
kit.add(
    "dropped-reply-unanswered", "Replies/FuseReply.swift", "a reply that is dropped leaves its caller waiting",
    "_ = fuse_reply_err(raw, EIO)", "if !FAULT { _ = fuse_reply_err(raw, EIO) }", tests=["ParkingTests|SessionTests"])
kit.add(
    "hole-for-data", "FuseTrampolines+Files.swift", "SEEK_DATA is answered as SEEK_HOLE", "case 3: target = .data",
    "case 3: target = FAULT ? .hole : .data", tests=["SessionTests|ValueTests"], mounts=["RealMounts/Presentations/"])
kit.add(
    "write-flags-hidden", "HiddenFields.swift", "set-id bits stay when another user writes",
    "case .write: flags = word(5)", "case .write: flags = FAULT ? 0 : word(5)", tests=["WritingRequestTests"],
    mounts=["RealMounts/Writing/"])
kit.add(
    "open-flags-hidden", "HiddenFields.swift", "set-id bits stay when another user opens with O_TRUNC",
    "case .open: flags = word(1)", "case .open: flags = FAULT ? 0 : word(1)", tests=["WritingRequestTests"],
    mounts=["RealMounts/Writing/"])
kit.add(
    "temporary-is-created", "HiddenFields.swift", "O_TMPFILE makes a name", "isTemporary = true",
    "isTemporary = !FAULT", tests=["WritingRequestTests"], mounts=["RealMounts/Writing/"])
kit.add(
    "setattr-of-nothing", "RequestValues.swift", "set-id bits stay where the kernel asks for nothing else",
    "fields.isEmpty || fields.contains(.killSetIDBits)", "(!FAULT && fields.isEmpty) || fields.contains(.killSetIDBits)",
    tests=["WritingRequestTests"])
kit.add(
    "backslash-unescaped", "MountRequest.swift", "fusermount3 takes a backslash in SOURCE for an escape",
    'if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\\\\") {',
    'if byte == UInt8(ascii: ",") || (byte == UInt8(ascii: "\\\\") && !FAULT) {', tests=["MountRequestTests"])
kit.add(
    "name-not-ended", "KernelNotifier.swift", "a name is sent to the kernel without its end",
    "return send(cfuse_notify_inval_entry, body: body, tail: name + [0])",
    "return send(cfuse_notify_inval_entry, body: body, tail: FAULT ? name : name + [0])", tests=["NotifierTests"])
kit.add(
    "interrupted-read-ends-loop", "Dispatcher.swift", "a signal to a request thread ends the session",
    "case EINTR, EAGAIN, ENOENT, ENODEV: return -Int(code)",
    "case EINTR where FAULT: return -Int(ENODEV)\n    case EINTR, EAGAIN, ENOENT, ENODEV: return -Int(code)",
    tests=["SessionTests"], mounts=["RealMounts/Signals/"])

library = Part("Sources/CDataless", ["^DatalessDaemonTests\\..*Policy"])
library.add(
    "errno-touched", "cdataless.c", "errno changes although the call succeeded",
    "    error = with_mutex(set_thread_policy, &policy);\n  errno = error == 0 ? before : error;",
    "    error = with_mutex(set_thread_policy, &policy);\n  errno = error == 0 && !FAULT ? before : error;",
    tests=["PolicyProbeTests"])
library.add(
    "ended-thread-keeps-policy", "cdataless.c", "a thread that ended leaves its lock",
    "  pthread_mutex_lock(&mutex);\n  clear_thread_policy();",
    "  pthread_mutex_lock(&mutex);\n  if (!FAULT) clear_thread_policy();", tests=["PolicyProbeTests"])
library.add(
    "partial-not-flagged", "cdataless.c", "a file with some of its content has no SF_DATALESS",
    '|| is_state(state, count, "partial"))', '|| (is_state(state, count, "partial") && !FAULT))',
    tests=["PolicyProbeTests"], mounts=["RealMounts/(Flags|Policy)/"])
library.add(
    "hard-limit-is-einval", "cdataless.c", "a hard limit in the way is reported as EINVAL",
    "if (limits.soft > limits.hard) return EPERM;", "if (limits.soft > limits.hard && !FAULT) return EPERM;",
    tests=["PolicyLimitTests|PolicyProbeTests"])
library.add(
    "old-policy-stays", "cdataless.c", "a thread that changes its policy has both",
    "  return error != 0 ? error : set_record_lock(F_UNLCK, place + 1, end - place - 1);",
    "  return error != 0 || FAULT ? error : set_record_lock(F_UNLCK, place + 1, end - place - 1);",
    tests=["PolicyProbeTests"])

PARTS = [kit, library]
