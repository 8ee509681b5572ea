#!/usr/bin/python3
"""As much of systemctl as Muster's playbooks ask for, over the units of a folder (MUSTER_ROOT): for specs, without root."""
import os
import shlex
import signal
import subprocess
import sys
import time

ROOT = os.environ["MUSTER_ROOT"]
UNITS = ROOT + "/etc/systemd/system"
STATE = ROOT + "/run/units"


def pid_of(unit):
    try:
        with open("%s/%s" % (STATE, unit)) as f:
            pid = int(f.read())
        with open("/proc/%d/stat" % pid) as f:
            return None if f.read().rsplit(")", 1)[1].split()[0] == "Z" else pid
    except OSError:
        return None


def start(unit):
    if pid_of(unit):
        return
    with open("%s/%s" % (UNITS, unit)) as f:
        lines = f.read().splitlines()
    for line in lines:
        if line.startswith("ExecStartPre="):
            subprocess.run(shlex.split(line.split("=", 1)[1]), check=True)
    command = shlex.split(next(line for line in lines if line.startswith("ExecStart="))[len("ExecStart="):])
    with open(ROOT + "/run/units.log", "a") as log:
        child = subprocess.Popen(
            command, start_new_session=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env={"PATH": "/usr/bin:/bin", "MUSTER_ROOT": ROOT},
        )
    with open("%s/%s" % (STATE, unit), "w") as f:
        f.write(str(child.pid))


def stop(unit):
    pid = pid_of(unit)
    if pid:
        os.kill(pid, signal.SIGKILL)
        while pid_of(unit):
            time.sleep(0.01)


def main():
    os.makedirs(STATE, exist_ok=True)
    words = [w for w in sys.argv[1:] if not w.startswith("-")]
    verb, units = words[0], words[1:]
    wants = UNITS + "/multi-user.target.wants"
    if verb == "daemon-reload":
        with open(ROOT + "/run/reloads", "a") as log:
            log.write("reload\n")
        return
    unit = units[0]
    exists = os.path.exists("%s/%s" % (UNITS, unit))
    if verb == "show":
        print("LoadState=%s\nActiveState=%s\nId=%s" % (
            "loaded" if exists else "not-found", "active" if pid_of(unit) else "inactive", unit))
    elif verb == "is-active":
        print("active" if pid_of(unit) else "inactive")
        sys.exit(0 if pid_of(unit) else 3)
    elif verb == "is-enabled":
        enabled = os.path.lexists("%s/%s" % (wants, unit))
        print("enabled" if enabled else "disabled")
        sys.exit(0 if enabled else 1)
    elif verb == "enable":
        os.makedirs(wants, exist_ok=True)
        os.symlink("%s/%s" % (UNITS, unit), "%s/%s" % (wants, unit))
    elif verb == "disable":
        os.unlink("%s/%s" % (wants, unit))
    elif verb == "start":
        start(unit)
    elif verb == "stop":
        stop(unit)
    elif verb == "restart":
        stop(unit)
        start(unit)
    else:
        sys.exit("systemctl of the specs does not know %s" % verb)


main()
