"""
All processes of a control host: those in its network namespace.

    control.py NETNS kill | stop | cont

Prints how many it reached.
"""
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import procs  # noqa: E402


def main(netns, verb):
    inode = os.stat(f"/run/netns/{netns}").st_ino

    def here(pid):
        try:
            return os.stat(f"/proc/{pid}/ns/net").st_ino == inode
        except OSError:
            return False

    if verb == "kill":
        print(procs.kill_all(here))
    else:
        print(len(procs.signal_all(here, {"stop": signal.SIGSTOP, "cont": signal.SIGCONT}[verb])))


main(sys.argv[1], sys.argv[2])
