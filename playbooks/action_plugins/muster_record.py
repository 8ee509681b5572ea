"""What the services of a node are made of: gathered, kept on the node, and read again to tell what differs.

It runs on the machine of Ansible, since what it handles may be secret: none of it is in a task's result, which every
callback sees. It goes into the run's own folder (MUSTER_PARTS), which nobody else may read and which is gone with the
run, and to the node only sealed. Without that folder, as in a run by hand, it does nothing.

  state: keep     one service, from within its role, or the agent: service, settings, templates, files, variables;
                  `texts` in the place of `templates` where they are rendered already
  state: write    what was kept of this node goes to it; with `only`, of these services. Without, those of others go
  state: compare  what the node keeps is read
  state: forget   what the node keeps is removed; with `only`, of these services
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import base64
import hashlib
import hmac
import json
import os
import re
import zlib

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase
from ansible.plugins.loader import lookup_loader
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

# Bytes of a text that is kept as such, and of all of a service: of others only size and hash are known.
TEXT_MOST = 65536
TEXTS_MOST = 524288
VERSION = 1
# Bytes.
NONCE = 12
# They hold the variables of other hosts, or the same ones again.
NOT_SEARCHED = ("hostvars", "groups", "vars", "ansible_facts", "muster_services")


class ActionModule(ActionBase):
    TRANSFERS_FILES = False

    def run(self, tmp=None, task_vars=None):
        super(ActionModule, self).run(tmp, task_vars)
        self.folder = os.environ.get("MUSTER_PARTS")
        self.vars = task_vars
        if self._task.args["state"] == "forget":
            return self.forget()
        if not self.folder:
            return dict(changed=False, skipped=True, msg="nothing is kept in a run by hand")
        self.host = task_vars["inventory_hostname"]
        return dict(keep=self.keep, write=self.write, compare=self.compare)[self._task.args["state"]]()

    # keep

    def keep(self):
        a = self._task.args
        self.room = TEXTS_MOST
        templates = [(path, self.look_up("template", path, convert_data=False)) for path in a.get("templates", [])]
        rendered = templates + [(f["path"], base64.b64decode(f["content"])) for f in a.get("texts", [])]
        variables = dict((name, self.look_up("vars", name, default="")) for name in a.get("variables", []))
        parts = dict(
            settings=dict((name, str(value)) for name, value in a["settings"].items()),
            variables=variables,
            templates=dict((path, self.part(content)) for path, content in rendered),
            files=dict((path, self.file(a["folder"], path)) for path in a.get("files", [])),
            secrets=self.secrets(),
        )
        self.put("now", a["service"], json.dumps(parts, sort_keys=True, default=str))
        return dict(changed=False)

    def look_up(self, plugin, term, **options):
        found = lookup_loader.get("ansible.builtin." + plugin, loader=self._loader, templar=self._templar)
        return found.run([term], variables=self.vars, **options)[0]

    def part(self, content):
        data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
        part = dict(size=len(data), sha256=hashlib.sha256(data).hexdigest())
        if len(data) <= min(TEXT_MOST, self.room) and b"\0" not in data:
            try:
                part["text"] = data.decode("utf-8")
                self.room -= len(data)
            except UnicodeDecodeError:
                pass  # it is no text
        return part

    def file(self, folder, path):
        full = os.path.join(folder, path)
        if os.path.getsize(full) <= TEXT_MOST:
            with open(full, "rb") as f:
                return self.part(f.read())
        digest = hashlib.sha256()
        with open(full, "rb") as f:
            for piece in iter(lambda: f.read(1 << 20), b""):
                digest.update(piece)
        return dict(size=os.path.getsize(full), sha256=digest.hexdigest())

    def secrets(self):
        """Values of all variables that a template may use and whose names say that they are secret, at any depth."""
        self.names = re.compile(self.given("names"), re.IGNORECASE)
        found = []
        for name, value in self.vars.items():
            if name in NOT_SEARCHED or not self.holds_secret(name, value):
                continue
            try:
                value = self.look_up("vars", name)
            except AnsibleError:
                continue  # what cannot be rendered was not rendered into anything
            found.extend(said(value) if self.names.search(name) else self.secret_members(value))
        return [json.loads(text) for text in sorted(set(json.dumps(value, sort_keys=True, default=str) for value in found))]

    def holds_secret(self, name, value):
        return bool(self.names.search(str(name))) or any(self.secret_members(value))

    def secret_members(self, value):
        if isinstance(value, dict):
            for name, member in value.items():
                if self.names.search(str(name)):
                    yield member if member not in (None, "") else "-"
                else:
                    for inner in self.secret_members(member):
                        yield inner
        elif isinstance(value, (list, tuple)):
            for member in value:
                for inner in self.secret_members(member):
                    yield inner

    # write

    def write(self):
        only = self._task.args.get("only")
        kept = self.all("now")
        if only is not None:
            kept = dict((name, text) for name, text in kept.items() if name in only)
        key = self.key()
        records = {} if key is None else dict((name, self.sealed(key, name, text)) for name, text in kept.items())
        args = dict(root=self._task.args["root"], records=json.dumps(records), remove=sorted(kept), others=only is None)
        return self.module(args)

    def sealed(self, key, service, text):
        known = json.loads(self.given("secrets"))
        secrets = known["all"] + known["hosts"].get(self.host, [])
        parts = dict(v=VERSION, node=self.host, service=service, parts=json.loads(text), secrets=secrets)
        plain = json.dumps(parts, sort_keys=True).encode("utf-8")
        # By the mark a second run sees that there is nothing to write. What else was known to be secret is none of it: that
        # may be another with each run.
        marked = dict(parts, secrets=None, parts=dict(parts["parts"], secrets=None))
        mark = hmac.new(key, json.dumps(marked, sort_keys=True).encode("utf-8"), hashlib.sha256).hexdigest()
        # By text and key: two texts never share one, and a service that is set up anew from the same is kept as the same.
        short = zlib.compress(plain)
        nonce = hmac.new(key, b"nonce" + short, hashlib.sha256).digest()[:NONCE]
        data = nonce + AESGCM(key).encrypt(nonce, short, None)
        return dict(mark=mark, sealed=base64.b64encode(data).decode("ascii"))

    def forget(self):
        only = self._task.args.get("only")
        return self.module(dict(root=self._task.args["root"], remove=only or [], others=only is None))

    # compare

    def compare(self):
        result = self.module(dict(root=self._task.args["root"], read=True))
        if result.get("unreachable"):
            return result
        if result.get("failed"):
            self.put("unreadable", "*", "what the node keeps of it cannot be read: %s" % result.get("msg", "no reason"))
            return dict(changed=False)
        for service, text in result["records"].items():
            try:
                self.put("last", service, json.dumps(self.opened(service, text)))
            except Unreadable as why:
                self.put("unreadable", service, str(why))
        return dict(changed=False)

    def opened(self, service, text):
        key = self.key()
        if key is None:
            raise Unreadable("what the node keeps of it is sealed: configure keys.secrets for this provisioner too")
        try:
            data = base64.b64decode(json.loads(text)["sealed"])
            plain = zlib.decompress(AESGCM(key).decrypt(data[:NONCE], data[NONCE:], None))
            record = json.loads(plain.decode("utf-8"))
        except (InvalidTag, ValueError, KeyError, TypeError, zlib.error):
            raise Unreadable("what the node keeps of it is damaged, or sealed with another key")
        if record.get("v") != VERSION:
            raise Unreadable("what the node keeps of it is of another version of Muster")
        if record["node"] != self.host or record["service"] != service:
            raise Unreadable("what the node keeps under its name is of %s on %s" % (record["service"], record["node"]))
        record["parts"]["secrets"] += record["secrets"]
        return record["parts"]

    # the run's own folder

    def given(self, name):
        with open(os.path.join(self.folder, name)) as f:
            return f.read()

    def key(self):
        key = self.given("key").strip()
        return bytes.fromhex(key) if key else None

    def put(self, kind, service, text):
        folder = os.path.join(self.folder, kind, self.host)
        os.makedirs(folder, 0o700, exist_ok=True)
        handle = os.open(os.path.join(folder, service), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as f:
            f.write(text)

    def all(self, kind):
        folder = os.path.join(self.folder, kind, self.host)
        found = {}
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            with open(os.path.join(folder, name)) as f:
                found[name] = f.read()
        return found

    def module(self, args):
        result = self._execute_module(module_name="muster_record", module_args=args, task_vars=self.vars)
        # What was sent and read is not for callbacks.
        result.pop("invocation", None)
        return result


class Unreadable(Exception):
    """What is kept of a service cannot be used."""


def said(value):
    """Of the result of a task only its output: the rest of it are words of Ansible, and stand everywhere."""
    if isinstance(value, dict) and "changed" in value and "failed" in value:
        return [value["stdout"]] if value.get("stdout") else []
    return [value]

