"""
Sends datagrams to a host's agent that nobody should send, or that were already there.

    mischief.py SWITCH_NETNS PORT_OF_SWITCH SENDER_NETNS ADDRESS UDP_PORT

Reads one line of JSON:
    send      datagrams in hex, sent one after the other; or
    capture   {way: to|from the host, types, count}: datagrams of agents as they pass at the switch, sent to the host
              unchanged; each `delay` s after it was captured, or (`reverse`) when all are there, the last one first
    settle    s to wait for answers after the last one
Prints {sent, sizes, captured, answered}: answered are datagrams that came back to the sender.
"""
import heapq
import json
import os
import select
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import enter  # noqa: E402

PATIENCE = 15.0
PACKET_OUTGOING = 4
ETH_P_ALL = 0x0003


def enter_netns(name):
    fd = os.open(f"/run/netns/{name}", os.O_RDONLY)
    enter.checked(enter.libc.setns(fd, enter.CLONE_NEWNET), f"enter network namespace {name}")
    os.close(fd)


def udp_of(frame):
    """(from, source port, to, port, payload) of an IPv4 UDP datagram in one piece; None for every other frame."""
    if len(frame) < 42 or frame[12:14] != b"\x08\x00" or frame[23] != socket.IPPROTO_UDP:
        return None
    if int.from_bytes(frame[20:22], "big") & 0x3FFF:
        return None
    at = 14 + (frame[14] & 0x0F) * 4
    source, port, length = (int.from_bytes(frame[at + i : at + i + 2], "big") for i in (0, 2, 4))
    return socket.inet_ntoa(frame[26:30]), source, socket.inet_ntoa(frame[30:34]), port, frame[at + 8 : at + length]


class Mischief:
    def __init__(self, switch, port_of_switch, sender, address, port):
        self.address, self.port = address, int(port)
        enter_netns(switch)
        self.tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.tap.bind((port_of_switch, 0))
        enter_netns(sender)
        self.out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sizes = []
        self.answered = 0

    def send(self, payload):
        self.out.sendto(payload, (self.address, self.port))
        self.sizes.append(len(payload))
        self.listen(0.001)

    def listen(self, seconds):
        end = time.monotonic() + seconds
        while select.select([self.out], [], [], max(0.0, end - time.monotonic()))[0]:
            self.out.recv(65535)
            self.answered += 1

    def captured(self, frame, kind, want):
        """The switch's port sends to the host what goes to it."""
        way = "to" if kind == PACKET_OUTGOING else "from"
        found = udp_of(frame)
        if way != want["way"] or found is None:
            return None
        source, source_port, to, port, payload = found
        near = to if way == "to" else source
        if near != self.address or source_port != self.port or (way == "to" and port != self.port):
            return None
        return payload if len(payload) > 3 and payload[3] in want["types"] else None

    def capture(self, want, delay, reverse):
        later, count, end = [], 0, time.monotonic() + PATIENCE
        while count < want["count"] and time.monotonic() < end:
            self.send_due(later, reverse)
            wait = min([end, *([later[0][0]] if later and not reverse else [])]) - time.monotonic()
            if not select.select([self.tap], [], [], max(0.0, wait))[0]:
                continue
            frame, address = self.tap.recvfrom(65535)
            payload = self.captured(frame, address[2], want)
            if payload is not None:
                heapq.heappush(later, (time.monotonic() + delay, count, payload))
                count += 1
        if reverse:
            for _, _, payload in sorted(later, reverse=True):
                self.send(payload)
        while later and not reverse:
            time.sleep(max(0.0, later[0][0] - time.monotonic()))
            self.send_due(later, reverse)
        return count

    def send_due(self, later, reverse):
        while later and not reverse and later[0][0] <= time.monotonic():
            self.send(heapq.heappop(later)[2])


def main(args):
    order = json.loads(sys.stdin.readline())
    mischief = Mischief(*args)
    count = 0
    if "capture" in order:
        count = mischief.capture(order["capture"], order.get("delay", 0), order.get("reverse", False))
    for text in order.get("send", []):
        mischief.send(bytes.fromhex(text))
    mischief.listen(order["settle"])
    sizes = mischief.sizes
    print(json.dumps({"sent": len(sizes), "sizes": sizes, "captured": count, "answered": mischief.answered}))


main(sys.argv[1:])
