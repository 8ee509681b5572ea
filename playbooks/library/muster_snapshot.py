"""What stands on a host: files where services have theirs, units, processes and listening ports. Reads only. Two snapshots
are compared by who asked for them."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: muster_snapshot
short_description: files, units, processes and ports of a host, as Muster's `snapshot`
options:
  root: {type: str, default: '', description: prefix of every path on the host}
"""

import hashlib
import os
import stat

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.muster_host import others, words

FOLDERS = (
    "/etc",
    "/opt",
    "/srv",
    "/usr/local",
    "/usr/lib/systemd/system",
    "/run/systemd/system",
    "/var/lib",
    "/var/spool",
    "/var/www",
)
# Written by the system itself, by the package manager, or by Muster's agent.
PASSED_OVER = (
    "/etc/ld.so.cache",
    "/etc/mtab",
    "/etc/muster",
    "/opt/muster-agent",
    "/var/lib/apt",
    "/var/lib/dpkg",
    "/var/lib/muster",
    "/var/lib/rpm",
    "/var/lib/systemd",
    "/var/lib/ucf",
)
# Of a folder in one of these: what a larger one holds is not read.
MOST_FILES = 50000
# A larger file is known by its size and the time of its last change, bytes.
LARGEST_READ = 1 << 20
UNITS = (".service", ".socket", ".timer", ".path")
LISTENS, BOUND = "0A", "07"


def mark_of(path, info):
    if stat.S_ISLNK(info.st_mode):
        return "link " + os.readlink(path)
    if stat.S_ISDIR(info.st_mode):
        return "folder"
    if not stat.S_ISREG(info.st_mode):
        return "other"
    if info.st_size > LARGEST_READ:
        return "%d bytes of %r" % (info.st_size, info.st_mtime)
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def files_below(top, passed_over):
    """Path → mark; None where there are too many. Other file systems that are mounted below are not entered."""
    found, device = {}, device_of(top)
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in passed_over]
        for path in (os.path.join(folder, name) for name in folders + names):
            note(found, path, passed_over)
        if len(found) > MOST_FILES:
            return None
        folders[:] = [name for name in folders if device_of(os.path.join(folder, name)) == device]
    return found


def note(found, path, passed_over):
    if path not in passed_over:
        try:
            found[path] = mark_of(path, os.lstat(path))
        except EnvironmentError:
            pass  # it has gone meanwhile


def device_of(path):
    try:
        return os.lstat(path).st_dev
    except EnvironmentError:
        return None  # it has gone meanwhile


def files(root):
    """Each folder in one of these is by itself: one with too many files is known, but not what it holds."""
    found, left_out = {}, []
    passed_over = set(root + path for path in PASSED_OVER)
    for folder in FOLDERS:
        top = root + folder
        if not os.path.isdir(top) or os.path.islink(top):
            continue
        for path in sorted(os.path.join(top, name) for name in os.listdir(top)):
            note(found, path, passed_over)
            if found.get(path) != "folder" or device_of(path) != device_of(top):
                continue
            below = files_below(path, passed_over)
            if below is None:
                left_out.append(path)
            else:
                found.update(below)
    return found, left_out


def units(module):
    """Those that the service manager has loaded, also such that have no file any more; none where it does not list them."""
    systemctl = module.get_bin_path("systemctl")
    if not systemctl:
        return []
    status, out, _ = module.run_command([systemctl, "list-units", "--all", "--plain", "--no-legend", "--full"])
    names = [line.split()[0] for line in out.splitlines() if line.split()] if status == 0 else []
    return sorted(name for name in names if name.endswith(UNITS))


def processes(root):
    """Without the kernel's own, and without those that carry this very task. Of a host that lives in a folder of a machine,
    those that name this folder in their environment."""
    found = []
    for pid in others():
        if root and "MUSTER_ROOT=" + root not in words(pid, "environ"):
            continue
        argv = [word for word in words(pid, "cmdline") if word]
        try:
            with open("/proc/%d/stat" % pid) as f:
                fields = f.read().rsplit(")", 1)[1].split()
        except EnvironmentError:
            continue  # it has ended meanwhile
        if argv and fields[0] not in ("Z", "X"):
            found.append(dict(pid=pid, started=int(fields[19]), command=" ".join(argv)[:200]))
    return found


def sockets(pids):
    """Inodes of what these processes hold open."""
    found = set()
    for pid in pids:
        folder = "/proc/%d/fd" % pid
        try:
            found.update(os.readlink(os.path.join(folder, name)) for name in os.listdir(folder))
        except EnvironmentError:
            continue  # it has ended meanwhile, or has closed one of them
    return set(link[8:-1] for link in found if link.startswith("socket:["))


def ports(only):
    """Those that are listened at; only: inodes of the sockets that count, None for all."""
    found = set()
    for name, state in (("tcp", LISTENS), ("tcp6", LISTENS), ("udp", BOUND), ("udp6", BOUND)):
        try:
            with open("/proc/net/" + name) as f:
                lines = f.read().splitlines()[1:]
        except EnvironmentError:
            continue  # this kernel has no such protocol
        for line in lines:
            words_of = line.split()
            if words_of[3] == state and (only is None or words_of[9] in only):
                found.add("%s %d" % (name[:3], int(words_of[1].rsplit(":", 1)[1], 16)))
    return sorted(found)


def main():
    module = AnsibleModule(argument_spec=dict(root=dict(type="str", default="")), supports_check_mode=True)
    root = module.params["root"]
    found, left_out = files(root)
    running = processes(root)
    listening = ports(sockets(p["pid"] for p in running) if root else None)
    snapshot = dict(files=found, leftOut=left_out, units=units(module), processes=running, ports=listening)
    module.exit_json(changed=False, muster=dict(snapshot=snapshot))


if __name__ == "__main__":
    main()
