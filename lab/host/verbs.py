"""
What `systemctl` of a lab host does: the verbs that people, Ansible's systemd and service modules, and Muster's tools use,
with systemd's exit codes. Run by the first process of the host, so that each call costs no more than a small program.
"""
import signal

from units import UnitError, full_name


class Refused(Exception):
    """Ends a command with a message and an exit code."""

    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code


# What a verb returns whose command ends when its units have done what it asked for.
LATER = object()


class Command:
    """One call of `systemctl`; `answer(code, out, err)` is called once, which may be later."""

    def __init__(self, supervisor, answer):
        self.supervisor = supervisor
        self.files = supervisor.files
        self.answer = answer
        self.out = []
        self.err = []

    def run(self, args):
        try:
            words, options = options_of(args)
            verb = words[0] if words else "list-units"
            if "version" in options:
                self.print("systemd 252 (lab host)")
                return self.end(0)
            if verb not in VERBS:
                raise Refused(f"Unknown command verb {verb}.")
            units = [w if w.endswith("*") else full_name(w) for w in words[1:]]
            code = VERBS[verb](self, units, options)
        except Refused as e:
            return self.refuse(str(e), e.code)
        except UnitError as e:
            return self.refuse(str(e))
        except Exception as e:  # the first process of a host outlives whatever it is asked
            return self.refuse(f"{type(e).__name__}: {e}")
        if code is not LATER:
            self.end(code or 0)

    def end(self, code):
        self.answer(code, "".join(self.out), "".join(self.err))

    def refuse(self, message, code=1):
        self.warn(message.rstrip("\n"))
        self.end(code)

    def print(self, text):
        self.out.append(text + "\n")

    def warn(self, text):
        self.err.append(text + "\n")

    def state(self, name):
        return self.supervisor.state_of(name)

    def active(self, name):
        return self.state(name)["ActiveState"] == "active"

    def act(self, steps, options):
        """Each (verb, unit), beside each other, once all of them may be."""
        for verb, name in steps:
            self.check(verb, name)
        left = len(steps)
        problems = []

        def done(ok, message):
            nonlocal left
            left -= 1
            if not ok:
                problems.append(message)
            if left == 0 and problems:
                self.refuse("\n".join(problems))
            elif left == 0:
                self.end(0)

        waits = steps and "no-block" not in options
        for verb, name in steps:
            self.supervisor.act(verb, name, done if waits else lambda ok, message: None)
        return LATER if waits else 0

    def check(self, verb, name):
        state = self.state(name)
        if state["LoadState"] == "not-found" and verb != "stop":
            raise Refused(f"Failed to {verb} {name}: Unit {name} not found.", 5)
        if state["LoadState"] == "masked" and verb != "stop":
            raise Refused(f"Failed to {verb} {name}: Unit {name} is masked.")
        if state["LoadState"] == "not-found" and state["ActiveState"] == "inactive":
            raise Refused(f"Failed to stop {name}: Unit {name} not loaded.", 5)
        if self.supervisor.leaving and verb != "stop":
            raise Refused(f"Transaction is destructive: the host is going to {self.supervisor.leaving}.")


def acts(verb):
    return lambda c, units, options: c.act([(verb, u) for u in units], options)


def try_restart(c, units, options):
    return c.act([("restart", u) for u in units if c.active(u)], options)


def reload_or_restart(c, units, options):
    return c.act([(reloads(c, u) if c.active(u) else "start", u) for u in units], options)


def try_reload_or_restart(c, units, options):
    return c.act([(reloads(c, u), u) for u in units if c.active(u)], options)


def reloads(c, name):
    return "reload" if c.files.load(name).commands("ExecReload") else "restart"


def enable(c, units, options):
    for name in units:
        for line in c.files.enable(name):
            c.warn(line)
    return acts("start")(c, units, options) if "now" in options else 0


def disable(c, units, options):
    for name in units:
        if c.files.find(name) is None:
            raise Refused(f"Failed to disable unit: Unit file {name} does not exist.")
        for line in c.files.disable(name):
            c.warn(line)
    return acts("stop")(c, units, options) if "now" in options else 0


def is_state(wanted, otherwise):
    def run(c, units, options):
        found = [c.state(u)["ActiveState"] for u in units]
        if "quiet" not in options:
            c.print("\n".join(found))
        return 0 if wanted in found else otherwise

    return run


def is_enabled(c, units, options):
    good = False
    for name in units:
        state = c.files.enabled_state(name)
        if state is None:
            c.warn(f"Failed to get unit file state for {name}: No such file or directory")
            continue
        good = good or state in ("enabled", "static", "indirect", "alias")
        if "quiet" not in options:
            c.print(state)
    return 0 if good else 1


def show(c, units, options):
    wanted = options.get("property")
    blocks = []
    for name in units:
        state = c.state(name)
        keys = [k for p in wanted for k in p.split(",")] if wanted else list(state)
        blocks.append("\n".join(state.get(k, "") if "value" in options else f"{k}={state.get(k, '')}" for k in keys))
    c.print("\n\n".join(blocks))


def status(c, units, options):
    if not units:
        return list_units(c, units, options)
    code = 0
    for name in units:
        s = c.state(name)
        if s["LoadState"] == "not-found":
            c.warn(f"Unit {name} could not be found.")
            code = 4
            continue
        c.print(f"● {name} - {s['Description']}\n     Loaded: {s['LoadState']} ({s['FragmentPath']}; {s['UnitFileState']})")
        c.print(f"     Active: {s['ActiveState']} ({s['SubState']})\n   Main PID: {s['MainPID']}")
        if s["ActiveState"] != "active":
            code = code or 3
    return code


def list_units(c, units, options):
    for name in c.supervisor.known():
        s = c.state(name)
        if units and name not in units or s["LoadState"] == "not-found" and s["ActiveState"] == "inactive":
            continue
        if "all" in options or s["ActiveState"] != "inactive":
            c.print(f"{name} {s['LoadState']} {s['ActiveState']} {s['SubState']} {s['Description']}")


def list_unit_files(c, units, options):
    def wanted(name):
        return not units or name in units or any(name.startswith(u.rstrip("*")) for u in units if u.rstrip("*") and u.endswith("*"))

    found = [n for n in c.files.all_names(packaged=True) if wanted(n)]
    for name in found:
        c.print(f"{name} {c.files.enabled_state(name)} enabled")
    if "no-legend" not in options:
        c.print(f"\n{len(found)} unit files listed.")
    return 0 if found or not units else 1


def list_jobs(c, units, options):
    leaving = c.supervisor.leaving
    c.print(f"1 {leaving}.target start running" if leaving else "No jobs running.")


def cat(c, units, options):
    for name in units:
        path = c.files.find(name)
        if path is None:
            raise Refused(f"No files found for {name}.")
        with open(path) as f:
            c.out.append(f"# {path}\n{f.read()}")


def kill(c, units, options):
    given = options.get("signal", ["SIGTERM"])[-1]
    number = int(given) if given.isdigit() else getattr(signal, given if given.startswith("SIG") else f"SIG{given}").value
    for name in units:
        c.supervisor.kill(name, number)


def is_system_running(c, units, options):
    broken = any(c.state(n)["ActiveState"] == "failed" for n in c.supervisor.known())
    word = "stopping" if c.supervisor.leaving else "degraded" if broken else "running"
    c.print(word)
    return 0 if word == "running" else 1


def changes_files(verb):
    def run(c, units, options):
        for name in units:
            getattr(c.files, verb)(name)

    return run


VERBS = {
    **{v: acts(v) for v in ("start", "stop", "restart", "reload")},
    "try-restart": try_restart,
    "condrestart": try_restart,
    "reload-or-restart": reload_or_restart,
    "try-reload-or-restart": try_reload_or_restart,
    "enable": enable,
    "disable": disable,
    "is-active": is_state("active", 3),
    "is-failed": is_state("failed", 1),
    "is-enabled": is_enabled,
    "show": show,
    "status": status,
    "cat": cat,
    "kill": kill,
    "mask": changes_files("mask"),
    "unmask": changes_files("unmask"),
    "reset-failed": lambda c, u, o: c.supervisor.reset_failed(u),
    "daemon-reload": lambda c, u, o: None,  # unit files are read at each start
    "daemon-reexec": lambda c, u, o: None,
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
