"""
The wires from a BMC to its host: `ipmi_sim` runs this for each chassis command, reads included.

    chassis.py BMC_DIR HOST_DIR ASKED get power              prints power:0|1
    chassis.py BMC_DIR HOST_DIR ASKED set power|reset|shutdown|boot VALUE

ASKED is the host at whose address the BMC was asked: another one where it is wired to the wrong machine. BMC_DIR holds `power` (on, off), log.jsonl (`set` when a command arrives and `done` when it has ended, `get` with its
answer, `held` when a fault stops one; ns and at are the arrival; written here and by nobody else) and the faults as
files that are looked at in each call: `stuck_on` (off is acknowledged and not done), `hold_get`, `hold_set` (the call
waits until the file is gone), `fail_get`, `fail_set` (an error is answered), `delay_set` (seconds before it acts).
"""
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import power  # noqa: E402
import procs  # noqa: E402


class Chassis:
    def __init__(self, bmc, host, asked):
        self.dir = bmc
        self.host = power.Host(host)
        self.asked = asked
        self.arrived = {"ns": time.monotonic_ns(), "at": int(time.time() * 1000)}

    def fault(self, name):
        return os.path.exists(os.path.join(self.dir, name))

    def log(self, op, what, **more):
        entry = {"host": self.host.spec["name"], "asked": self.asked, "op": op, "what": what, **more, **self.arrived}
        if op != "set":
            entry["tookMs"] = round((time.monotonic_ns() - self.arrived["ns"]) / 1e6, 1)
        out = os.open(os.path.join(self.dir, "log.jsonl"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.write(out, (json.dumps(entry) + "\n").encode())
        os.close(out)

    def power(self):
        with open(os.path.join(self.dir, "power")) as f:
            return f.read().strip()

    def set_power(self, state):
        procs.write_aside(os.path.join(self.dir, "power"), state + "\n")

    def hold(self, op, what):
        if not self.fault(f"hold_{op}"):
            return
        self.log("held", what, holds=op)
        parent = os.getppid()
        while self.fault(f"hold_{op}"):
            if os.getppid() != parent:  # the BMC itself is gone, and with it the command
                sys.exit(1)
            time.sleep(0.005)

    def get(self, what):
        self.hold("get", what)
        if self.fault("fail_get"):
            self.log("get", what, failed=True)
            sys.exit(1)
        value = {"power": "1" if self.power() == "on" else "0"}.get(what, "0")
        self.log("get", what, value=value)
        print(f"{what}:{value}")

    def set(self, what, value):
        self.log("set", what, value=value)
        applied = self.apply(what, value)
        self.log("done", what, value=value, applied=applied)
        if applied is None:
            sys.exit(1)

    def apply(self, what, value):
        """True: done; False: acknowledged, not done; None: an error is answered."""
        self.hold("set", what)
        if self.fault("fail_set"):
            return None
        if self.fault("delay_set"):
            with open(os.path.join(self.dir, "delay_set")) as f:
                time.sleep(float(f.read()))
        if what == "power" and value == "0":
            return self.off()
        if what == "power":
            self.on()
        elif what == "reset":
            if not self.off():
                return False
            self.on()
        elif what == "shutdown":
            with self.host.locked():
                self.host.shutdown("poweroff")
            self.set_power("off")
        else:
            return False
        return True

    def off(self):
        if self.fault("stuck_on"):
            return False
        with self.host.locked():
            self.host.die()
            self.set_power("off")
        return True

    def on(self):
        """Power is there at once; the boot goes on by itself, and nobody waits for it."""
        self.set_power("on")
        if os.fork() == 0:
            os.setsid()
            nothing = os.open("/dev/null", os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(nothing, fd)
            for fd in range(3, 256):
                try:
                    os.close(fd)
                except OSError:
                    pass
            with self.host.locked():
                if self.power() == "on":
                    self.host.boot()
            os._exit(0)


def main(args):
    chassis = Chassis(args[0], args[1], args[2])
    if args[3] == "get":
        chassis.get(args[4])
    else:
        chassis.set(args[4], args[5] if len(args) > 5 else "1")


main(sys.argv[1:])
