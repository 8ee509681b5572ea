"""
First process of a lab host: starts what is enabled at boot, reaps, restarts, and serves a socket: one line of JSON in, which
is a call of `systemctl` {verb, args} (its answer: systemctl.pl) or how the host is to end {verb}. A host is killed from
outside; this never cleans up after that.
"""
import heapq
import json
import os
import selectors
import signal
import socket
import sys
import time

import procs
from service import Service, say
from units import UnitError, UnitFiles, full_name
from verbs import Command


class Supervisor:
    def __init__(self):
        self.root = os.environ.get("MUSTER_ROOT", "")
        self.host_marker = os.environ["MUSTER_LAB_HOST"]
        self.environment = {k: v for k, v in os.environ.items() if k != "MUSTER_LAB_READY"}
        with open(f"{self.root}/etc/hostname") as f:
            self.files = UnitFiles(self.root, f.read().strip())
        self.services = {}
        self.timers = []
        self.counter = 0
        self.leaving = None
        self.selector = selectors.DefaultSelector()
        os.makedirs(f"{self.root}/var/log/units", exist_ok=True)

    def unit_marker(self, name):
        return f"{self.host_marker}:{name}"

    def log_of(self, name):
        return f"{self.root}/var/log/units/{name.removesuffix('.service')}.log"

    def after(self, delay, then):
        self.counter += 1
        entry = [time.monotonic() + delay, self.counter, then]
        heapq.heappush(self.timers, entry)
        return entry

    def service(self, name):
        name = full_name(name)
        if name not in self.services:
            self.services[name] = Service(name, self)
        return self.services[name]

    # ---- loop -------------------------------------------------------------------------------------------------------

    def run(self):
        wake, wake_write = os.pipe()
        for fd in (wake, wake_write):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self.leave("poweroff"))
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        self.selector.register(wake, selectors.EVENT_READ, lambda: os.read(wake, 4096))
        path = f"{self.root}/run/lab-init.sock"
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        os.chmod(path, 0o600)
        server.listen(64)
        self.selector.register(server, selectors.EVENT_READ, lambda: self.accept(server))
        for name in self.files.enabled_at_boot():
            self.service(name).start(lambda ok, message: None if ok else say(message))
        tell = int(os.environ["MUSTER_LAB_READY"])
        os.write(tell, b"ready")
        os.close(tell)
        while True:
            self.reap()
            self.fire()
            if self.leaving and all(s.state in ("inactive", "failed") for s in self.services.values()):
                say(f"{self.leaving}: every unit has stopped")
                sys.exit(0)
            wait = None if not self.timers else max(0.0, self.timers[0][0] - time.monotonic())
            for key, _ in self.selector.select(wait):
                key.data()

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for service in list(self.services.values()):
                if service.child_ended(pid, status):
                    break

    def fire(self):
        while self.timers and self.timers[0][0] <= time.monotonic():
            then = heapq.heappop(self.timers)[2]
            if then is not None:
                then()

    def leave(self, kind):
        self.leaving = kind
        for service in self.services.values():
            service.stop(lambda ok, message: None)

    # ---- control socket ---------------------------------------------------------------------------------------------

    def accept(self, server):
        connection, _ = server.accept()
        connection.setblocking(False)
        buffer = bytearray()

        def readable():
            try:
                chunk = connection.recv(65536)
            except BlockingIOError:
                return
            except OSError:
                chunk = b""
            buffer.extend(chunk)
            if b"\n" in buffer or not chunk:
                self.selector.unregister(connection)
                if chunk:
                    self.asked(bytes(buffer), connection)
                else:
                    connection.close()

        self.selector.register(connection, selectors.EVENT_READ, readable)

    def asked(self, line, connection):
        def answer(data):
            try:
                connection.setblocking(True)
                connection.sendall(data)
            except OSError as e:
                say(f"an answer found nobody: {e}")
            connection.close()

        def ended(code, out, err):
            said = out.encode()
            answer(f"{code} {len(said)}\n".encode() + said + err.encode())

        request = json.loads(line)
        if request["verb"] == "systemctl":
            Command(self, ended).run(request["args"])
        else:
            self.leave(request["verb"])
            answer(b"")

    def act(self, verb, name, done):
        getattr(self.service(name), verb)(done)

    def reset_failed(self, names):
        for s in [self.service(n) for n in names] or list(self.services.values()):
            s.starts = []
            if s.state == "failed":
                s.become("inactive", "dead")

    def kill(self, name, number):
        marker = f"MUSTER_LAB_UNIT={self.unit_marker(full_name(name))}"
        procs.signal_all(lambda pid: procs.has_marker(pid, marker), number)

    def known(self):
        return sorted({*self.services, *(n for n in self.files.all_names() if n.endswith(".service") and "@." not in n)})

    def state_of(self, name):
        s = self.service(name)
        problem = None
        try:
            unit = self.files.load(s.name)
        except UnitError as e:
            unit, problem = None, str(e)
        load = "loaded" if unit else "masked" if self.files.is_masked(s.name) else "bad-setting" if problem else "not-found"
        enabled = None if load in ("not-found", "bad-setting") else self.files.enabled_state(s.name)
        return {
            "Type": (unit and unit.last("Service", "Type", "simple")) or "simple",
            "Restart": (unit and unit.last("Service", "Restart", "no")) or "no",
            "MainPID": str(s.main or 0),
            "Result": s.result,
            "NRestarts": str(s.restarts),
            "ExecMainCode": str(s.exit[0]),
            "ExecMainStatus": str(s.exit[1]),
            "Id": s.name,
            "Names": s.name,
            "Description": (unit and unit.last("Unit", "Description")) or s.name,
            "LoadState": load,
            "ActiveState": s.state,
            "SubState": s.sub,
            "FragmentPath": (unit and unit.path) or "",
            "UnitFileState": enabled or "",
            "ActiveEnterTimestampMonotonic": str(int(s.active_since * 1e6)),
        }

