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


def pid_in(path):
    """The process that a file names; None while it names none that lives."""
    try:
        with open(path) as f:
            pid = int(f.read())
    except (OSError, ValueError):
        return None
    return pid if start_ticks(pid) is not None else None


def parent(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            return int(f.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def in_session(pid, session):
    try:
        return os.getsid(pid) == session
    except OSError:
        return False


def has_marker(pid, marker):
    """
    Was this process, or one that it descends from, started with `NAME=value` in its environment? sshd writes its title
    over its own: it is told by its parents, of which one is a supervisor that adopts what they leave.
    """
    while pid > 1:
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if marker.encode() in f.read().split(b"\0"):
                    return True
        except PermissionError:
            pass  # hidden from everybody but root: its parents are asked
        except OSError:
            return False
        pid = parent(pid)
    return False


def is_sshd_of(pid, folder):
    """An sshd whose supervisor is gone still names its configuration, which is in the host's folder."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            title = f.read()
    except OSError:
        return False
    return title.startswith(b"sshd: ") and f" -f {folder}/".encode() in title


def in_pid_namespace(pid, inode):
    try:
        return os.stat(f"/proc/{pid}/ns/pid").st_ino == inode
    except OSError:
        return False


def signal_all(is_meant, number):
    """One signal to each process that `is_meant` holds for, and to those which they start meanwhile. {pid: start}."""
    seen = {}
    while True:
        found = {p: start_ticks(p) for p in pids() if p != os.getpid() and p not in seen}
        found = {p: start for p, start in found.items() if start is not None and is_meant(p)}
        if not found:
            return seen
        for p, start in found.items():
            signal_exactly(p, lambda pid, start=start: start_ticks(pid) == start, number)
        seen.update(found)


def kill_all(is_meant, seconds=5.0):
    """
    SIGKILL, until none is left that `is_meant` holds for. All are stopped first: nobody starts anything any more, and who
    belongs to whom can be told until the last one is known. Returns how many were hit.
    """
    hit = {}
    deadline = time.monotonic() + seconds
    while True:
        found = signal_all(is_meant, signal.SIGSTOP)
        for p, start in found.items():
            signal_exactly(p, lambda pid, start=start: start_ticks(pid) == start, signal.SIGKILL)
        hit.update(found)
        while any(start_ticks(p) == start for p, start in found.items()):
            if time.monotonic() > deadline:
                raise SystemExit(f"processes {sorted(found)} did not end within {seconds} s of SIGKILL")
            time.sleep(0.002)
        if not found:
            return len(hit)


def write_aside(path, text):
    """Whole or not at all: readers never see half a file."""
    aside = f"{path}.{os.getpid()}"
    with open(aside, "w") as f:
        f.write(text)
    os.replace(aside, path)
