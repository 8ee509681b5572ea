"""The life of one service: commands before it, its main process, restarts, its end. Timers and children come from outside."""
import os
import pwd
import signal
import sys
import time

import procs
from units import UnitError, with_variables

DEFAULT_RESTART_SECONDS = 0.1
DEFAULT_STOP_SECONDS = 10.0
DEFAULT_START_SECONDS = 90.0
# A service that goes into the background writes its pid after its first process has ended.
PID_FILE_SECONDS = 0.02
START_LIMIT = (5, 10.0)

CLEAN_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)


def say(line):
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


class Service:
    """
    States as systemd names them: inactive, activating, active, deactivating, failed. `phase` is the command list that runs
    now; `main` the main process. A waiter is a function that is told (ok, message) when a start or a stop has ended.
    """

    def __init__(self, name, supervisor):
        self.name = name
        self.sup = supervisor
        self.unit = None
        self.state, self.sub, self.result = "inactive", "dead", "success"
        self.main = None
        # Of a service that went into the background: it may have no environment that shows whose it is.
        self.session = None
        self.control = None
        self.phase = None
        self.queue = []
        self.exit = (0, 0)
        self.waiters = []
        self.timer = None
        self.starts = []
        self.restarts = 0
        self.active_since = 0.0
        self.environment = {}
        self.restart_after_stop = False
        self.failure = None

    # ---- asked from outside -----------------------------------------------------------------------------------------

    def start(self, waiter):
        if self.state == "active":
            return waiter(True, "")
        self.waiters.append(waiter)
        if self.state == "deactivating":
            self.restart_after_stop = True
        elif self.state != "activating" or self.sub == "auto-restart":
            self.begin(asked=True)
        return None

    def stop(self, waiter):
        self.restart_after_stop = False
        if self.state in ("inactive", "failed"):
            self.become("inactive", "dead")
            return waiter(True, "")
        if self.sub == "auto-restart":
            self.cancel_timer()
            self.become("inactive", "dead")
            self.tell(False, f"Job for {self.name} canceled.")
            return waiter(True, "")
        self.tell(False, f"Job for {self.name} canceled.")
        self.waiters.append(waiter)
        if self.state != "deactivating":
            self.end(None)
        return None

    def restart(self, waiter):
        if self.state in ("active", "activating") and self.sub != "auto-restart":
            self.tell(False, f"Job for {self.name} canceled.")
            self.waiters.append(waiter)
            self.restart_after_stop = True
            self.end(None)
        else:
            self.start(waiter)

    def reload(self, waiter):
        commands = self.unit.commands("ExecReload") if self.unit else []
        if self.state != "active":
            return waiter(False, f"{self.name} is not active, cannot reload.")
        if not commands:
            return waiter(False, f"Job type reload is not applicable for unit {self.name}.")
        self.waiters.append(waiter)
        self.run_phase("reload", commands)
        return None

    # ---- start ------------------------------------------------------------------------------------------------------

    def begin(self, asked):
        self.cancel_timer()
        try:
            self.unit = self.sup.files.load(self.name)
            if self.unit is None:
                raise UnitError(f"Unit {self.name} not found.")
            self.environment = {**self.sup.environment, **self.unit.environment(self.sup.root)}
        except UnitError as e:
            return self.give_up("resources", f"Failed to start {self.name}: {e}")
        kind = self.unit.last("Service", "Type", "simple")
        if kind == "dbus" or (kind == "forking" and self.unit.last("Service", "PIDFile") is None):
            kind += " without PIDFile=" if kind == "forking" else ""
            return self.give_up("resources", f"{self.name}: Type={kind} is not known to a lab host.")
        if not self.unit.commands("ExecStart"):
            return self.give_up("resources", f"{self.name} has no ExecStart= setting.")
        now = time.monotonic()
        window = self.unit.span("Unit", "StartLimitIntervalSec", START_LIMIT[1])
        most = int(self.unit.last("Unit", "StartLimitBurst", str(START_LIMIT[0])))
        self.starts = [t for t in self.starts if now - t < window]
        if window > 0 and most > 0 and len(self.starts) >= most:
            return self.give_up("start-limit-hit", f"{self.name}: start request repeated too quickly.")
        self.starts.append(now)
        if asked:
            self.restarts = 0
        self.failure, self.result = None, "success"
        for directory, key in (("/run", "RuntimeDirectory"), ("/var/lib", "StateDirectory"), ("/var/log", "LogsDirectory")):
            for name in self.unit.words("Service", key):
                os.makedirs(f"{self.sup.root}{directory}/{name}", exist_ok=True)
        self.become("activating", "start-pre")
        self.run_phase("pre", self.unit.commands("ExecStartPre"))
        return None

    def run_phase(self, phase, commands):
        self.phase, self.queue = phase, list(commands)
        self.next_command()

    def next_command(self):
        if not self.queue:
            return self.phase_done()
        ignored, argv = self.queue.pop(0)
        pid = self.spawn(argv)
        if self.phase == "main" and self.unit.last("Service", "Type", "simple") not in ("oneshot", "forking"):
            self.main = pid
            self.phase = None
            self.active_since = time.monotonic()
            self.become("active", "running")
            self.run_phase("post", self.unit.commands("ExecStartPost"))
        else:
            self.control = (pid, ignored)
        return None

    def phase_done(self):
        phase, self.phase = self.phase, None
        if phase == "pre":
            self.become("activating", "start")
            self.run_phase("main", self.unit.commands("ExecStart"))
        elif phase == "main" and self.unit.last("Service", "Type") == "forking":
            self.await_main(time.monotonic() + self.unit.span("Service", "TimeoutStartSec", DEFAULT_START_SECONDS))
        elif phase == "main":  # oneshot
            if self.unit.flag("Service", "RemainAfterExit"):
                self.become("active", "exited")
            else:
                self.become("inactive", "dead")
            self.tell(True, "")
        elif phase in ("post", "reload"):
            self.tell(True, "")
        elif phase == "stop":
            self.terminate()
        return None

    def await_main(self, deadline):
        pid = procs.pid_in(self.unit.last("Service", "PIDFile"))
        if pid is not None:
            self.main, self.session = pid, os.getsid(pid)
            self.active_since = time.monotonic()
            self.become("active", "running")
            self.run_phase("post", self.unit.commands("ExecStartPost"))
        elif time.monotonic() < deadline:
            self.arm(PID_FILE_SECONDS, lambda: self.await_main(deadline))
        else:
            self.end("timeout")

    def spawn(self, argv):
        argv = with_variables(argv, self.environment)
        user = self.unit.last("Service", "User")
        folder = self.unit.last("Service", "WorkingDirectory")
        log = self.sup.log_of(self.name)
        pid = os.fork()
        if pid:
            return pid
        try:
            os.setsid()
            self.rank()
            fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
            os.dup2(fd, 1)
            os.dup2(fd, 2)
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            if folder:
                os.chdir(folder.lstrip("-"))
            environment = {**self.environment, "MUSTER_LAB_UNIT": self.sup.unit_marker(self.name)}
            if user and user != "root" and os.geteuid() == 0:
                account = pwd.getpwnam(user)
                os.initgroups(user, account.pw_gid)
                os.setgid(account.pw_gid)
                os.setuid(account.pw_uid)
                environment["HOME"] = account.pw_dir
            os.execvpe(argv[0], argv, environment)
        except BaseException as e:  # noqa: BLE001 (a forked child must never run its parent's code)
            os.write(2, f"{argv[0]}: {e}\n".encode())
        os._exit(203)

    def rank(self):
        """As its unit says what goes before what. The kernel shares the cores among sessions first: ours has its rank, too."""
        nice = int(self.unit.last("Service", "Nice", "0"))
        if nice == 0 or os.geteuid() != 0:
            return
        os.setpriority(os.PRIO_PROCESS, 0, nice)
        if os.path.exists("/proc/self/autogroup"):
            with open("/proc/self/autogroup", "w") as session:
                session.write(str(nice))

    # ---- end --------------------------------------------------------------------------------------------------------

    def end(self, failure):
        """Takes it down, in good order as far as it still runs."""
        self.failure = failure
        self.queue = []
        was_active = self.state == "active"
        self.become("deactivating", "stop")
        if self.control is not None:
            procs.signal_exactly(self.control[0], lambda p: True, signal.SIGKILL)
            self.control = None
        if was_active and failure is None and self.unit.commands("ExecStop"):
            self.arm(self.unit.span("Service", "TimeoutStopSec", DEFAULT_STOP_SECONDS), self.terminate)
            self.run_phase("stop", self.unit.commands("ExecStop"))
        else:
            self.terminate()

    def terminate(self):
        self.phase, self.control = None, None
        self.become("deactivating", "stop-sigterm")
        name = self.unit.last("Service", "KillSignal", "SIGTERM")
        number = getattr(signal, name if name.startswith("SIG") else f"SIG{name}", signal.SIGTERM)
        if self.main is not None:
            procs.signal_exactly(self.main, lambda p: True, number)
            self.arm(self.unit.span("Service", "TimeoutStopSec", DEFAULT_STOP_SECONDS), self.kill)
        else:
            self.kill()

    def kill(self):
        self.become("deactivating", "stop-sigkill")
        if self.main is not None:
            procs.signal_exactly(self.main, lambda p: True, signal.SIGKILL)
        else:
            self.gone()

    def gone(self):
        """The main process has ended: nothing of the unit may be left."""
        self.cancel_timer()
        marker = f"MUSTER_LAB_UNIT={self.sup.unit_marker(self.name)}"
        session = self.session
        procs.kill_all(lambda pid: procs.has_marker(pid, marker) or (session is not None and procs.in_session(pid, session)))
        self.main, self.session, self.control, self.phase = None, None, None, None
        if self.failure is None:
            self.become("inactive", "dead")
            if self.restart_after_stop:
                self.restart_after_stop = False
                return self.begin(asked=True)
            return self.tell(True, "")
        self.result = self.failure
        return self.maybe_restart()

    def maybe_restart(self):
        policy = self.unit.last("Service", "Restart", "no")
        clean = self.failure == "success"
        wanted = policy == "always" or (policy == "on-failure" and not clean) or (policy == "on-success" and clean)
        wanted = wanted or (policy in ("on-abnormal", "on-abort") and self.failure == "signal")
        if not clean:
            self.tell(False, f"Job for {self.name} failed; see {self.sup.log_of(self.name)}.")
        if self.restart_after_stop:
            self.restart_after_stop = False
            return self.begin(asked=True)
        if wanted and not self.sup.leaving:
            self.restarts += 1
            self.become("activating", "auto-restart")
            self.arm(self.unit.span("Service", "RestartSec", DEFAULT_RESTART_SECONDS), lambda: self.begin(asked=False))
        elif clean:
            self.become("inactive", "dead")
            self.tell(True, "")
        else:
            self.become("failed", "failed")
        return None

    def give_up(self, result, message):
        self.result = result
        say(message)
        self.become("failed", "failed")
        self.tell(False, message)

    def child_ended(self, pid, status):
        """True where the process was one of ours to know."""
        if self.control is not None and pid == self.control[0]:
            ignored = self.control[1]
            self.control = None
            if status == 0 or ignored:
                self.next_command()
            elif self.phase in ("reload", "post"):
                self.queue, self.phase = [], None
                self.tell(False, f"Job for {self.name} failed; see {self.sup.log_of(self.name)}.")
            elif self.phase == "stop":
                self.terminate()
            else:
                self.note_exit(status)
                self.end("exit-code" if os.WIFEXITED(status) else "signal")
            return True
        if pid == self.main:
            self.main = None
            self.note_exit(status)
            if self.state == "deactivating":
                if self.phase != "stop":
                    self.gone()
                return True
            if status == 0 or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in CLEAN_SIGNALS):
                self.failure = "success"
            else:
                self.failure = "signal" if os.WIFSIGNALED(status) else "exit-code"
            self.gone()
            return True
        return False

    # ---- small ------------------------------------------------------------------------------------------------------

    def note_exit(self, status):
        self.exit = (2, os.WTERMSIG(status)) if os.WIFSIGNALED(status) else (1, os.waitstatus_to_exitcode(status))

    def become(self, state, sub):
        if (state, sub) != (self.state, self.sub):
            say(f"{time.monotonic():.3f} {self.name}: {self.state}/{self.sub} → {state}/{sub}")
        self.state, self.sub = state, sub

    def arm(self, delay, then):
        self.cancel_timer()
        if delay != float("inf"):
            self.timer = self.sup.after(delay, then)

    def cancel_timer(self):
        if self.timer is not None:
            self.timer[2] = None
            self.timer = None

    def tell(self, ok, message):
        waiters, self.waiters = self.waiters, []
        for waiter in waiters:
            waiter(ok, message)
