"""What Muster's modules share: files written whole, and processes as /proc shows them."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import signal
import tempfile
import time


def read(path):
    """Undefined where it cannot be read: it then is not what it shall be."""
    try:
        with open(path, "rb") as f:
            return f.read()
    except IOError:
        return None


def write(path, content, mode):
    """Aside, synced, renamed: a host that dies in between keeps the old file or has the new one, never half of one."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        os.makedirs(folder)
    handle, aside = tempfile.mkstemp(prefix=".muster-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(content)
            f.flush()
            os.fsync(f.fileno())
        os.chmod(aside, mode)
        os.rename(aside, path)
    except Exception:
        os.unlink(aside)
        raise


def words(pid, name):
    """`cmdline` or `environ` of a process, as a list; empty where it ended meanwhile, or is another user's."""
    try:
        with open("/proc/%d/%s" % (pid, name), "rb") as f:
            return f.read().decode("utf-8", "surrogateescape").split("\0")
    except IOError:
        return []


def stat_of(pid):
    """State letter and parent; none where it ended meanwhile."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
    except IOError:
        return None, 0
    return fields[0], int(fields[1])


def others():
    """Every process but this one and its ancestors: the session that carries this very task."""
    mine, pid = set(), os.getpid()
    while pid > 0 and pid not in mine:
        mine.add(pid)
        pid = stat_of(pid)[1]
    return [int(d) for d in os.listdir("/proc") if d.isdigit() and int(d) not in mine]


def with_argv(argv):
    """Processes all of these words stand in the command line of."""
    return [pid for pid in others() if set(argv) <= set(words(pid, "cmdline"))]


def end(pids, timeout=5.0):
    """SIGKILL, and wait; returns those that are still there."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue  # it ended meanwhile; one that may not be killed is seen below
    deadline = time.monotonic() + timeout
    left = list(pids)
    while True:
        left = [pid for pid in left if stat_of(pid)[0] not in (None, "Z", "X")]
        if not left or time.monotonic() >= deadline:
            return left
        time.sleep(0.02)


DMI = "/sys/class/dmi/id/"


def hardware(module, root):
    """What the machine says of itself from within, for whoever asks whether a power device is its own. What it does not
    say, or what only root may read, is left out."""
    found = {}
    for name, path in (("systemUuid", "product_uuid"), ("boardSerial", "board_serial"), ("chassisSerial", "chassis_serial")):
        said = (read(root + DMI + path) or b"").decode("utf-8", "replace").strip()[:128]
        if said:
            found[name] = said
    guid = bmc_guid(module, root)
    if guid:
        found["bmcGuid"] = guid
    return found


def bmc_guid(module, root):
    """Of its own BMC, over the bus in the machine; as raw bytes, since versions of ipmitool differ in how they write it."""
    ipmitool, timeout = module.get_bin_path("ipmitool"), module.get_bin_path("timeout")
    device = any(os.path.exists(root + path) for path in ("/dev/ipmi0", "/dev/ipmi/0", "/dev/ipmidev/0"))
    if not (device and ipmitool and timeout):
        return None
    status, out, _ = module.run_command([timeout, "5", ipmitool, "raw", "0x06", "0x37"])
    guid = "".join(out.split())
    return guid if status == 0 and len(guid) == 32 else None
