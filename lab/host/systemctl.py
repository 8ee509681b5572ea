"""
`systemctl` of a lab host: the verbs that people, Ansible's systemd and service modules, and Muster's tools use, with
systemd's exit codes. Unit files are changed here, as the real one does; processes by the first process of the host.
"""
import json
import os
import signal
import socket
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from units import UnitError, UnitFiles, full_name  # noqa: E402

ROOT = os.environ.get("MUSTER_ROOT", "")


def ask(verb, units=(), **more):
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(f"{ROOT}/run/lab-init.sock")
    except OSError as e:
        raise SystemExit(f"Failed to connect to the host's first process: {e.strerror}") from e
    s.sendall((json.dumps({"verb": verb, "units": list(units), **more}) + "\n").encode())
    data = b""
    while not data.endswith(b"\n"):
        chunk = s.recv(65536)
        if not chunk:
            raise SystemExit("The host's first process gave no answer.")
        data += chunk
    return json.loads(data)


def states(units):
    return ask("states", units)["units"]


def fail(message, code=1):
    sys.stderr.write(message.rstrip("\n") + "\n")
    sys.exit(code)


def act(verb, units, options):
    for name in units:
        state = states([name])[name]
        if state["LoadState"] == "not-found" and verb != "stop":
            fail(f"Failed to {verb} {name}: Unit {name} not found.", 5)
        if state["LoadState"] == "masked" and verb != "stop":
            fail(f"Failed to {verb} {name}: Unit {name} is masked.")
        if state["LoadState"] == "not-found" and state["ActiveState"] == "inactive":
            fail(f"Failed to stop {name}: Unit {name} not loaded.", 5)
    answer = ask(verb, units, wait="no-block" not in options)
    if not answer["ok"]:
        fail(answer["message"])


def conditional(verb):
    def run(units, options):
        if verb == "try-restart":
            running = [u for u in units if states([u])[u]["ActiveState"] == "active"]
            if running:
                act("restart", running, options)
            return
        for name in units:  # reload-or-restart, try-reload-or-restart
            if states([name])[name]["ActiveState"] != "active":
                if verb == "reload-or-restart":
                    act("start", [name], options)
            elif files(name).load(name).commands("ExecReload"):
                act("reload", [name], options)
            else:
                act("restart", [name], options)

    return run


def files(_=None):
    with open(f"{ROOT}/etc/hostname") as f:
        return UnitFiles(ROOT, f.read().strip())


def enable(units, options):
    for name in units:
        for line in files().enable(name):
            sys.stderr.write(line + "\n")
    if "now" in options:
        act("start", units, options)


def disable(units, options):
    for name in units:
        if files().find(name) is None:
            fail(f"Failed to disable unit: Unit file {name} does not exist.")
        for line in files().disable(name):
            sys.stderr.write(line + "\n")
    if "now" in options:
        act("stop", units, options)


def is_active(units, options):
    found = [states([u])[u]["ActiveState"] for u in units]
    if "quiet" not in options:
        print("\n".join(found))
    sys.exit(0 if "active" in found else 3)


def is_failed(units, options):
    found = [states([u])[u]["ActiveState"] for u in units]
    if "quiet" not in options:
        print("\n".join(found))
    sys.exit(0 if "failed" in found else 1)


def is_enabled(units, options):
    good = False
    for name in units:
        state = files().enabled_state(name)
        if state is None:
            sys.stderr.write(f"Failed to get unit file state for {name}: No such file or directory\n")
            continue
        good = good or state in ("enabled", "static", "indirect", "alias")
        if "quiet" not in options:
            print(state)
    sys.exit(0 if good else 1)


def show(units, options):
    wanted = options.get("property")
    blocks = []
    for name in units:
        state = states([name])[name]
        keys = [k for p in wanted for k in p.split(",")] if wanted else list(state)
        blocks.append("\n".join(state.get(k, "") if "value" in options else f"{k}={state.get(k, '')}" for k in keys))
    print("\n\n".join(blocks))


def status(units, options):
    if not units:
        return list_units(units, options)
    code = 0
    for name in units:
        s = states([name])[name]
        if s["LoadState"] == "not-found":
            sys.stderr.write(f"Unit {name} could not be found.\n")
            code = 4
            continue
        print(f"● {name} - {s['Description']}\n     Loaded: {s['LoadState']} ({s['FragmentPath']}; {s['UnitFileState']})")
        print(f"     Active: {s['ActiveState']} ({s['SubState']})\n   Main PID: {s['MainPID']}")
        if s["ActiveState"] != "active":
            code = code or 3
    sys.exit(code)


def list_units(units, options):
    chosen = {n: s for n, s in states([]).items() if not units or n in units}
    for name, s in sorted(chosen.items()):
        if s["LoadState"] == "not-found" and s["ActiveState"] == "inactive":
            continue
        if "all" in options or s["ActiveState"] != "inactive":
            print(f"{name} {s['LoadState']} {s['ActiveState']} {s['SubState']} {s['Description']}")


def list_unit_files(units, options):
    f = files()
    found = [(n, f.enabled_state(n)) for n in f.all_names(packaged=True) if not units or n in units or any(u.rstrip("*") and n.startswith(u.rstrip("*")) for u in units if u.endswith("*"))]
    for name, state in found:
        print(f"{name} {state} enabled")
    if "no-legend" not in options:
        print(f"\n{len(found)} unit files listed.")
    sys.exit(0 if found or not units else 1)


def list_jobs(units, options):
    leaving = ask("states", []).get("leaving")
    print(f"1 {leaving}.target start running" if leaving else "No jobs running.")


def cat(units, options):
    for name in units:
        path = files().find(name)
        if path is None:
            fail(f"No files found for {name}.")
        with open(path) as f:
            print(f"# {path}\n{f.read()}", end="")


def kill(units, options):
    given = options.get("signal", ["SIGTERM"])[-1]
    number = int(given) if given.isdigit() else getattr(signal, given if given.startswith("SIG") else f"SIG{given}").value
    ask("kill", units, signal=number)


def is_system_running(units, options):
    answer = ask("states", [])
    broken = any(s["ActiveState"] == "failed" for s in answer["units"].values())
    word = "stopping" if answer.get("leaving") else "degraded" if broken else "running"
    print(word)
    sys.exit(0 if word == "running" else 1)


def change_files(verb):
    def run(units, options):
        for name in units:
            getattr(files(), verb)(name)

    return run


VERBS = {
    **{v: (lambda v: lambda u, o: act(v, u, o))(v) for v in ("start", "stop", "restart", "reload")},
    **{v: conditional(v) for v in ("try-restart", "reload-or-restart", "try-reload-or-restart")},
    "condrestart": conditional("try-restart"),
    "enable": enable,
    "disable": disable,
    "is-active": is_active,
    "is-failed": is_failed,
    "is-enabled": is_enabled,
    "show": show,
    "status": status,
    "cat": cat,
    "kill": kill,
    "mask": change_files("mask"),
    "unmask": change_files("unmask"),
    "reset-failed": lambda u, o: ask("reset-failed", u),
    "daemon-reload": lambda u, o: None,  # unit files are read at each start
    "daemon-reexec": lambda u, o: None,
    "list-units": list_units,
    "list-unit-files": list_unit_files,
    "list-jobs": list_jobs,
    "is-system-running": is_system_running,
}
WITH_VALUE = {"property": "p", "signal": "s", "type": "t", "state": None, "lines": "n", "output": "o", "kill-who": None}


def options_of(args):
    words, options = [], {}
    rest = list(args)
    while rest:
        arg = rest.pop(0)
        if arg == "--":
            words += rest
            break
        if not arg.startswith("-"):
            words.append(arg)
            continue
        name, sign, value = arg.lstrip("-").partition("=")
        if not arg.startswith("--"):
            long = next((k for k, short in WITH_VALUE.items() if short == arg[1]), None)
            if long is not None:
                options.setdefault(long, []).append(arg[2:] or (rest.pop(0) if rest else ""))
            else:
                options.update({{"q": "quiet", "a": "all", "l": "full", "f": "force"}.get(c, c): [] for c in arg[1:]})
            continue
        if name in WITH_VALUE and not sign:
            value = rest.pop(0) if rest else ""
        options.setdefault(name, []).append(value)
    return words, options


def main():
    words, options = options_of(sys.argv[1:])
    if "version" in options:
        print("systemd 252 (lab host)")
        return
    verb = words[0] if words else "list-units"
    if verb not in VERBS:
        fail(f"Unknown command verb {verb}.")
    try:
        VERBS[verb]([full_name(w) if not w.endswith("*") else w for w in words[1:]], options)
    except UnitError as e:
        fail(str(e))


main()
