"""
`systemctl` of a lab host: hands its arguments to the first process of the host (verbs.py), and ends as that says. Agents
and Ansible call it hundreds of times a minute, so it imports only what Python has built in: all else would double its cost.
"""
import posix
import sys
from _json import encode_basestring_ascii
from _socket import AF_UNIX, socket


def main(args):
    s = socket(AF_UNIX)
    try:
        s.connect(posix.environ.get(b"MUSTER_ROOT", b"") + b"/run/lab-init.sock")
    except OSError as e:
        raise SystemExit(f"Failed to connect to the host's first process: {e.strerror}") from e
    s.send((f'{{"verb": "systemctl", "args": [{", ".join(map(encode_basestring_ascii, args))}]}}\n').encode())
    data = b""
    while chunk := s.recv(65536):
        data += chunk
    # The exit code, how many bytes are for stdout, those, and the rest for stderr.
    head, sign, body = data.partition(b"\n")
    if not sign:
        raise SystemExit("The host's first process gave no answer.")
    code, length = map(int, head.split())
    sys.stdout.buffer.write(body[:length])
    sys.stderr.buffer.write(body[length:])
    sys.exit(code)


main(sys.argv[1:])
