#!/usr/bin/env python3
"""
Replays what Muster has told, over the text protocol of NATS: no client library, only Python and its `cryptography`.

    nats_events.py [--ca FILE] HOST:PORT CREDS_FILE INBOX_PREFIX [AFTER]

One event a line, as JSON; at the end `last N`. With --ca (`tls/ca.pem` of `muster init`) it speaks TLS, and only to a
server that this CA has signed, under the name or address HOST. INBOX_PREFIX is the user's own: `_INBOX_tools`, or `_INBOX_tool.NAME` for a program of `muster tool add NAME`.
"""
import base64
import json
import re
import secrets
import socket
import ssl
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

LIMIT_S = 10


def credentials(path):
    """The user's token, and the key that signs what the server asks. A seed is two bytes of kind, the key, a checksum."""
    with open(path) as f:
        jwt, seed = re.findall(r"-----BEGIN [^-]+-----\s+(\S+)\s+-+END", f.read())
    raw = base64.b32decode(seed + "=" * (-len(seed) % 8))
    return jwt, Ed25519PrivateKey.from_private_bytes(raw[2:34])


class Nats:
    def __init__(self, server, creds, inbox, ca=None):
        host, port = server.rsplit(":", 1)
        host = host.strip("[]")
        self.socket = socket.create_connection((host, int(port)), timeout=LIMIT_S)
        self.inbox = inbox
        self.subscriptions = 0
        info = self.greeting()
        if ca is not None:
            # The server greets in clear, and TLS begins after that. Whatever somebody on the way made of the greeting: a
            # server without TLS is not spoken to, and a nonce that is not its own lets nobody in.
            if not (info.get("tls_required") or info.get("tls_available")):
                raise SystemExit("the server offers no TLS")
            self.socket = ssl.create_default_context(cafile=ca).wrap_socket(self.socket, server_hostname=host)
        elif info.get("tls_required"):
            raise SystemExit("the server asks for TLS: name its CA with --ca")
        self.lines = self.socket.makefile("rb")
        jwt, key = credentials(creds)
        signature = base64.urlsafe_b64encode(key.sign(info["nonce"].encode())).decode().rstrip("=")
        hello = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True}
        self.send("CONNECT " + json.dumps({**hello, "jwt": jwt, "sig": signature, "name": "nats_events.py"}))
        self.send("PING")
        if self.line() != "PONG":
            raise SystemExit("the server does not let us in")

    def greeting(self):
        """What the server says first, and not a byte more: what follows may be TLS."""
        line = b""
        while not line.endswith(b"\n"):
            byte = self.socket.recv(1)
            if not byte:
                raise SystemExit("the server has hung up")
            line += byte
        return json.loads(line.decode().split(" ", 1)[1])

    def send(self, *parts):
        self.socket.sendall("".join(part + "\r\n" for part in parts).encode())

    def line(self):
        """The next line for us; the server's own questions are answered on the way."""
        while True:
            line = self.lines.readline().decode().rstrip("\r\n")
            if line == "" or line.startswith("-ERR"):
                raise SystemExit(line or "the server has hung up")
            if line == "PING":
                self.send("PONG")
            elif not line.startswith(("INFO", "+OK")):
                return line

    def request(self, subject, payload):
        """One answer to one question, on an inbox that nobody else may read."""
        self.subscriptions += 1
        reply = "%s.%s" % (self.inbox, secrets.token_hex(8))
        body = json.dumps(payload)
        self.send("SUB %s %d" % (reply, self.subscriptions), "UNSUB %d 1" % self.subscriptions)
        self.send("PUB %s %s %d" % (subject, reply, len(body.encode())), body)
        words = self.line().split(" ")
        answer = self.lines.read(int(words[-1]) + 2)[:-2]
        if words[0] == "HMSG":  # headers come first, and so many bytes they have; without an answer there is nothing else
            answer = answer[int(words[-2]) :]
        if not answer:
            raise SystemExit("nobody answers on " + subject)
        return json.loads(answer)


def main(server, creds, inbox, after="0", ca=None):
    nats = Nats(server, creds, inbox, ca)
    last, more = int(after), True
    while more:
        page = nats.request("muster.cmd.events", {"after": last, "limit": 500})
        if not page["ok"]:
            raise SystemExit("%s: %s" % (page["code"], page["message"]))
        for event in page["events"]:
            print(json.dumps(event))
        last, more = page["last"], page["more"]
    print("last", last)


words = sys.argv[1:]
ca = words[1] if words[:1] == ["--ca"] else None
main(*words[2 if ca else 0 :], ca=ca)
