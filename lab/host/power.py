"""
The power of one host: boot it, let it die, cut and join its cables, freeze it. Used by the BMC's hook and by the lab's
commands alike, so that there is one way to do each.

    power.py HOST_DIR boot | crash | off | links | freeze [UNIT] | thaw [UNIT] | doze SECONDS [UNIT] | shutdown KIND | state

HOST_DIR holds host.json (what the host is), process.json (its first process: pid and start), boot_id, boots.jsonl (every boot and when it began), cuts.json (networks
whose cable is cut), lock. Exit code 0; a JSON line on stdout for `state`, for `crash` and `off` with the moment of death, and for `doze` with how long it was.
"""
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import procs  # noqa: E402

BOOT_SECONDS = 30.0


class Host:
    def __init__(self, folder):
        self.dir = os.path.abspath(folder)
        self.spec = self.read("host.json", None)
        if self.spec is None:
            raise SystemExit(f"{folder}: no host lives here")
        self.isolated = self.spec["mode"] == "netns"
        self.marker = f"MUSTER_LAB_HOST={self.dir}"

    def path(self, name):
        return os.path.join(self.dir, name)

    def read(self, name, fallback):
        try:
            with open(self.path(name)) as f:
                return json.load(f)
        except FileNotFoundError:
            return fallback

    def locked(self):
        lock = open(self.path("lock"), "a")  # noqa: SIM115 (held until the caller's `with` ends)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock

    def process(self):
        record = self.read("process.json", None)
        return record if procs.alive(record) else None

    def is_mine(self, pid):
        return procs.has_marker(pid, self.marker) or procs.is_sshd_of(pid, self.dir)

    # ---- cables -------------------------------------------------------------------------------------------------

    def links(self, up):
        """A cable carries when the host is powered and nobody has cut it. The switch's side is switched: the host's own
        interface stays as it is, as with a real cable."""
        if not self.isolated:
            return
        cut = self.read("cuts.json", [])
        batch = "".join(
            f"link set {port} {'up' if up and network not in cut else 'down'}\n"
            for network, port in self.spec["ports"].items()
        )
        done = subprocess.run(
            ["ip", "-n", self.spec["switch"], "-batch", "-"], input=batch, text=True, capture_output=True, check=False
        )
        if done.returncode != 0:
            raise SystemExit(f"{self.spec['name']}: cannot switch its cables: {done.stderr.strip()}")

    # ---- death --------------------------------------------------------------------------------------------------

    def die(self):
        """Cables first: the network stack of a killed namespace would go on refusing connections, and look alive.
        Answers the moment of death: nothing that it sends after that arrives anywhere."""
        moment = {"ns": time.monotonic_ns(), "at": int(time.time() * 1000)}
        self.links(False)
        if self.isolated:
            record = self.process()
            if record is not None:
                same = lambda pid: procs.start_ticks(pid) == record["start"]  # noqa: E731
                procs.signal_exactly(record["pid"], same, signal.SIGKILL)
                deadline = time.monotonic() + 5
                while procs.alive(record):
                    if time.monotonic() > deadline:
                        raise SystemExit(f"{self.spec['name']}: its first process did not end within 5 s of SIGKILL")
                    time.sleep(0.002)
        else:
            procs.kill_all(self.is_mine)
            self.bury()
        return moment

    # ---- loopback: the silence of the dead ------------------------------------------------------------------------

    def bury(self):
        """Without namespaces a dead host's ports would refuse; a grave holds them and says nothing."""
        if any(procs.has_marker(pid, f"MUSTER_LAB_GRAVE={self.dir}") for pid in procs.pids()):
            return
        grave = subprocess.Popen(
            ["/usr/bin/python3", "-I", "-S", os.path.join(HERE, "grave.py"), self.path("host.json")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "MUSTER_LAB_GRAVE": self.dir},
        )
        grave.stdout.readline()

    def exhume(self):
        procs.kill_all(lambda pid: procs.has_marker(pid, f"MUSTER_LAB_GRAVE={self.dir}"))

    # ---- life ---------------------------------------------------------------------------------------------------

    def boot(self):
        if self.process() is not None:
            return False
        boot = str(uuid.uuid4())
        procs.write_aside(self.path("boot_id"), f"{boot}\n")
        with open(self.path("boots.jsonl"), "a") as log:
            log.write(json.dumps({"boot": boot, "ns": time.monotonic_ns()}) + "\n")
        self.exhume()
        self.links(True)
        ready, tell = os.pipe()
        starter = os.fork()
        if starter == 0:
            os.close(ready)
            self.start(tell)
        os.close(tell)
        os.waitpid(starter, 0)
        os.set_blocking(ready, False)
        deadline = time.monotonic() + BOOT_SECONDS
        while True:
            try:
                if os.read(ready, 16):
                    return True
                raise SystemExit(f"{self.spec['name']} did not boot; see {self.path('log/init.log')}")
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise SystemExit(f"{self.spec['name']} did not boot within {BOOT_SECONDS} s") from None
                time.sleep(0.005)

    def start(self, tell):
        """In the forked child: becomes nobody's child, makes the namespaces, leaves the first process behind."""
        import enter

        try:
            os.setsid()
            nothing = os.open("/dev/null", os.O_RDONLY)
            log = os.open(self.path("log/init.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            os.dup2(nothing, 0)
            os.dup2(log, 1)
            os.dup2(log, 2)
            if self.isolated:
                enter.leave_machine(self.spec["netns"])
            first = os.fork()
            if first == 0:
                for fd in range(3, 256):
                    if fd != tell:
                        try:
                            os.close(fd)
                        except OSError:
                            pass
                enter.become_first(self.dir, self.spec, self.marker, tell)
            record = {"pid": first, "start": procs.start_ticks(first)}
            procs.write_aside(self.path("process.json"), json.dumps(record))
            os._exit(0)
        except BaseException as e:  # noqa: BLE001 (a forked child must never run its parent's code)
            os.write(2, f"{self.spec['name']}: {e!r}\n".encode())
            os._exit(1)

    # ---- frozen -------------------------------------------------------------------------------------------------

    def frozen(self, unit, number):
        """Every process of the host (or of one of its units), the first one included."""
        record = self.process()
        if record is None:
            raise SystemExit(f"{self.spec['name']} is not running")
        if unit is not None:
            marker = f"MUSTER_LAB_UNIT={self.dir}:{unit}"
            if not procs.signal_all(lambda pid: procs.has_marker(pid, marker), number):
                raise SystemExit(f"{self.spec['name']}: no process of {unit} runs")
        elif self.isolated:
            inode = os.stat(f"/proc/{record['pid']}/ns/pid").st_ino
            procs.signal_all(lambda pid: procs.in_pid_namespace(pid, inode), number)
        else:
            procs.signal_all(self.is_mine, number)

    def doze(self, unit, seconds):
        """Stands still for so long, unless its power goes before. Answers for how long: a busy machine wakes it up late.
        The lock is free meanwhile: its BMC can switch it off, and it may be booted anew."""
        with self.locked():
            record = self.process()
            since = time.monotonic()
            self.frozen(unit, signal.SIGSTOP)
        try:
            time.sleep(max(0.0, since + seconds - time.monotonic()))
        finally:
            with self.locked():
                if procs.alive(record):
                    self.frozen(unit, signal.SIGCONT)
        return {"stoodMs": round((time.monotonic() - since) * 1000)}

    def shutdown(self, kind):
        """In good order: the supervisor stops every unit, then ends. Forced after 20 s."""
        record = self.process()
        if record is None:
            return
        ask = socket.socket(socket.AF_UNIX)
        ask.connect(self.control())
        ask.sendall((json.dumps({"verb": kind}) + "\n").encode())
        deadline = time.monotonic() + 20
        while procs.alive(record) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.die()

    def control(self):
        if self.isolated:
            return f"/proc/{self.process()['pid']}/root/run/lab-init.sock"
        return os.path.join(self.spec["root"], "run/lab-init.sock")

    def state(self):
        record = self.process()
        boot = None
        if record is not None:
            with open(self.path("boot_id")) as f:
                boot = f.read().strip()
        return {"running": record is not None, "pid": record and record["pid"], "boot": boot, "cut": self.read("cuts.json", [])}


def main(args):
    if len(args) < 2:
        raise SystemExit("usage: power.py HOST_DIR boot|crash|off|links|freeze|thaw|doze|shutdown|state")
    host, verb = Host(args[0]), args[1]
    if verb == "state":
        print(json.dumps(host.state()))
        return
    if verb == "doze":
        # Who ends this program early wakes the host up.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended early"))
        print(json.dumps(host.doze(args[3] if len(args) > 3 else None, float(args[2]))))
        return
    with host.locked():
        if verb == "boot":
            host.boot()
        elif verb in ("crash", "off"):
            print(json.dumps(host.die()))
        elif verb == "links":
            host.links(host.process() is not None)
        elif verb in ("freeze", "thaw"):
            host.frozen(args[2] if len(args) > 2 else None, signal.SIGSTOP if verb == "freeze" else signal.SIGCONT)
        elif verb == "shutdown":
            host.shutdown(args[2] if len(args) > 2 else "poweroff")
        else:
            raise SystemExit(f"unknown verb {verb}")


if __name__ == "__main__":
    main(sys.argv[1:])
