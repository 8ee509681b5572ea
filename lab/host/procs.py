"""Which process is which: a pid alone may have been given to another process since, so each is named by pid and start."""
import os
import signal
import time


def start_ticks(pid):
    """Start of a process in clock ticks since boot; None when it is gone or dead and only not yet reaped."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            rest = f.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if rest[0] in (b"Z", b"X") else int(rest[19])


def alive(record):
    return record is not None and start_ticks(record["pid"]) == record["start"]


def signal_exactly(pid, is_meant, number):
    """Sends to the process that `is_meant` holds for, or to nobody: the descriptor pins it while we look again."""
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not is_meant(pid):
            return False
        signal.pidfd_send_signal(fd, number)
        return True
    except OSError:
        return False
    finally:
        os.close(fd)


def pids():
    return [int(p) for p in os.listdir("/proc") if p.isdigit()]


def has_marker(pid, marker):
    """Was this process started with `NAME=value` in its environment? (What a child clears, its parent still has.)"""
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            return marker.encode() in f.read().split(b"\0")
    except OSError:
        return False


def in_pid_namespace(pid, inode):
    try:
        return os.stat(f"/proc/{pid}/ns/pid").st_ino == inode
    except OSError:
        return False


def kill_all(is_meant, seconds=5.0):
    """SIGKILL, until none is left that `is_meant` holds for. Returns how many were hit."""
    hit = set()
    deadline = time.monotonic() + seconds
    while True:
        found = [p for p in pids() if p != os.getpid() and start_ticks(p) is not None and is_meant(p)]
        if not found:
            return len(hit)
        if time.monotonic() > deadline:
            raise SystemExit(f"processes {found} did not end within {seconds} s of SIGKILL")
        for p in found:
            if signal_exactly(p, is_meant, signal.SIGKILL):
                hit.add(p)
        time.sleep(0.005)


def signal_all(is_meant, number):
    """One signal to each process that `is_meant` holds for, and to those which they start meanwhile."""
    seen = set()
    while True:
        found = [p for p in pids() if p not in seen and start_ticks(p) is not None and is_meant(p)]
        if not found:
            return len(seen)
        for p in found:
            signal_exactly(p, is_meant, number)
            seen.add(p)


def write_aside(path, text):
    """Whole or not at all: readers never see half a file."""
    aside = f"{path}.{os.getpid()}"
    with open(aside, "w") as f:
        f.write(text)
    os.replace(aside, path)
