"""From the machine into a host: its namespaces, its root, its first process."""
import ctypes
import os
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
PR_SET_CHILD_SUBREAPER = 36

libc = ctypes.CDLL(None, use_errno=True)


def checked(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source, target, kind, flags=0, data=None):
    encoded = [None if x is None else x.encode() for x in (source, target, kind, data)]
    checked(libc.mount(encoded[0], encoded[1], encoded[2], flags, encoded[3]), f"mount {kind or 'bind'} on {target}")


def bind(source, target, read_only=False):
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        open(target, "w").close()  # noqa: SIM115
    mount(source, target, None, MS_BIND)
    if read_only:
        mount(None, target, None, MS_REMOUNT | MS_BIND | MS_RDONLY)


def hide(path, target):
    """As if it had never been installed: an empty folder, or a file that nobody can run."""
    if os.path.isdir(path):
        mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")
    else:
        bind("/dev/null", target, read_only=True)


def leave_machine(netns):
    fd = os.open(f"/run/netns/{netns}", os.O_RDONLY)
    checked(libc.setns(fd, CLONE_NEWNET), f"enter network namespace {netns}")
    os.close(fd)
    checked(libc.unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID), "make namespaces")


def mount_root(folder, spec):
    """The machine's own system below, the host's changes above: /etc and /var persist over boots, /run and /tmp do not."""
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    root = os.path.join(folder, "root")
    layers = spec["layers"]
    mount("overlay", root, "overlay", 0, f"lowerdir=/,upperdir={layers}/upper,workdir={layers}/work")
    return root


def install(folder, root, isolated):
    """Once per host, as the image of a machine is: what the lab has prepared goes in; what the machine itself would start
    at boot, and what an agent of its own left, does not belong to this host."""
    if os.path.exists(os.path.join(folder, "installed")):
        return
    if isolated:
        for stale in ("etc/systemd/system", "etc/muster", "opt/muster-agent", "var/lib/muster", "root/.ansible"):
            shutil.rmtree(os.path.join(root, stale), ignore_errors=True)
        for personal in (".bashrc", ".profile", ".bash_profile", ".ssh/authorized_keys"):
            if os.path.lexists(os.path.join(root, "root", personal)):
                os.unlink(os.path.join(root, "root", personal))
        unlock_root(os.path.join(root, "etc/shadow"))
    shutil.copytree(os.path.join(folder, "seed"), root, symlinks=True, dirs_exist_ok=True)
    open(os.path.join(folder, "installed"), "w").close()  # noqa: SIM115


def unlock_root(shadow):
    """sshd lets nobody in whose password field starts with `!`, also by key; `*` has no password either."""
    with open(shadow) as f:
        lines = f.readlines()
    fixed = ["root:*" + line[line.index(":", 5) :] if line.startswith("root:!") else line for line in lines]
    if fixed != lines:
        with open(shadow, "w") as f:
            f.writelines(fixed)


def show_hardware(folder, root):
    """The machine's own UUID and serial numbers would be those of every host, where it shows any. sysfs takes no new
    folders: the host's stand in a layer above its classes, in the place of `dmi`."""
    classes = f"{root}/sys/class"
    if os.path.isdir(classes):
        mount("overlay", classes, "overlay", MS_RDONLY, f"lowerdir={folder}/class:{classes}")
    else:  # it goes without /sys
        shutil.copytree(f"{folder}/class", classes)


def mount_volatile(folder, root, spec):
    mount("proc", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    bind(f"{folder}/boot_id", f"{root}/proc/sys/kernel/random/boot_id", read_only=True)
    try:
        mount("sysfs", f"{root}/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY)
    except OSError as e:
        os.write(2, f"goes without /sys: {e}\n".encode())
    mount("tmpfs", f"{root}/dev", "tmpfs", MS_NOSUID, "mode=755,size=1m")
    for device in ("null", "zero", "full", "random", "urandom", "tty"):
        bind(f"/dev/{device}", f"{root}/dev/{device}")
    for place, kind, data in (("pts", "devpts", "newinstance,ptmxmode=0666,mode=620"), ("shm", "tmpfs", "mode=1777")):
        os.mkdir(f"{root}/dev/{place}")
        mount(kind, f"{root}/dev/{place}", kind, MS_NOSUID | MS_NOEXEC, data)
    os.symlink("pts/ptmx", f"{root}/dev/ptmx")
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(target if target.startswith("/") else f"/proc/self/{target}", f"{root}/dev/{name}")
    mount("tmpfs", f"{root}/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")
    mount("tmpfs", f"{root}/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
    bind(spec["ledger"], f"{root}/run/ledger")
    bind(f"{folder}/log", f"{root}/var/log/units")
    # Before what is bound: that may be below.
    for path in spec["hidden"]:
        if os.path.lexists(root + path):  # below /tmp there is nothing to hide
            hide(path, root + path)
    show_hardware(folder, root)
    # Last: they may be below /tmp, which the host has of its own.
    for path in spec["binds"]:
        bind(path, root + path, read_only=True)
    device = os.stat("/").st_dev
    for path in spec["bindsIfMounted"]:
        if os.stat(path).st_dev != device:
            bind(path, root + path, read_only=True)


def pivot(root):
    """The machine's own tree is gone afterwards: nothing in the host can reach the lab's files."""
    os.chdir(root)
    checked(libc.pivot_root(b".", b"."), "pivot_root")
    checked(libc.umount2(b".", MNT_DETACH), "leave the machine's root")
    os.chdir("/")


def become_first(folder, spec, marker, tell):
    """In the forked child: mounts, then becomes the supervisor. `tell` is a pipe that says that the host is up."""
    try:
        environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "MUSTER_LAB_DIR": spec["lab"],
            "MUSTER_LAB_READY": str(tell),
        }
        name, _, value = marker.partition("=")
        environment[name] = value
        if spec["mode"] == "netns":
            root = mount_root(folder, spec)
            install(folder, root, True)
            mount_volatile(folder, root, spec)
            name = spec["name"].encode()
            checked(libc.sethostname(name, len(name)), "sethostname")
            pivot(root)
            os.makedirs("/run/systemd/system")  # by this Ansible knows which service manager it deals with
            environment["HOME"] = "/root"
            first = "/usr/local/sbin/systemd"
        else:
            root = spec["root"]
            install(folder, root, False)
            shutil.rmtree(f"{root}/run", ignore_errors=True)
            for place in ("run", "run/sshd", "var/lib", "var/log", "tmp", "home"):
                os.makedirs(f"{root}/{place}", exist_ok=True)
            libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            environment["HOME"] = f"{root}/home"
            environment["MUSTER_ROOT"] = root
            environment["MUSTER_LEDGER"] = spec["ledger"]
            environment["MUSTER_BOOT_ID"] = f"{folder}/boot_id"
            environment["PATH"] = f"{root}/usr/local/bin:" + environment["PATH"]
            first = f"{root}/usr/local/sbin/systemd"
        os.set_inheritable(tell, True)
        os.execve(first, [first], environment)
    except BaseException as e:  # noqa: BLE001 (a forked child must never run its parent's code)
        os.write(2, f"{spec['name']}: {e!r}\n".encode())
        os._exit(1)
