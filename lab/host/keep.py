"""
Starts a program again, so many seconds after it has died, for ever; writes each one's pid and start where the lab looks
for them, and appends its output to LOG. SIGUSR1 starts it at once.

    keep.py SECONDS RECORD_FILE NAME LOG COMMAND...
"""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import procs  # noqa: E402


def main(pause, record, name, log, command):
    signals = {signal.SIGUSR1, signal.SIGCHLD}
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    while True:
        pid = os.fork()
        if pid == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
            os.setsid()
            output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.execvp(command[0], command)
        start = procs.start_ticks(pid)
        procs.write_aside(record, json.dumps({"name": name, "pid": pid, "start": start, "log": log}) + "\n")
        os.waitpid(pid, 0)
        signal.sigtimedwait({signal.SIGUSR1}, pause)


main(float(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:])
