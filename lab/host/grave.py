"""
A dead host of the loopback mode: holds its addresses and answers nothing. Without it, the machine that the lab runs on
would refuse connections in the dead host's name, and a refusal is a sign of life.

    grave.py HOST_JSON      prints one line when the ports are held
"""
import json
import signal
import socket
import sys
import time


def hold(kind, address, port):
    """Until whoever had the port is gone: it was killed a moment ago."""
    deadline = time.monotonic() + 3
    while True:
        s = socket.socket(socket.AF_INET, kind)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind((address, port))
            return s
        except OSError:
            s.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def silence(address, port):
    """The queue of connections is filled: further ones are dropped, not accepted, as by a machine without power."""
    listening = hold(socket.SOCK_STREAM, address, port)
    listening.listen(0)
    fillers = [socket.socket() for _ in range(2)]
    for filler in fillers:
        filler.setblocking(False)
        filler.connect_ex(listening.getsockname())
    return [listening, *fillers]


def main():
    with open(sys.argv[1]) as f:
        spec = json.load(f)
    held = []
    for address in spec["addresses"].values():
        held.append(hold(socket.SOCK_DGRAM, address, spec["agentPort"]))
        # On every network: where its sshd listens on one alone, the others look for it all the same.
        held += silence(address, spec["sshPort"])
    print("held", flush=True)
    sys.stdout.close()
    signal.pause()


main()
