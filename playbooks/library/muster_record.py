"""What the services of this node were set up from, as they are kept here: one sealed file each, for root only."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: muster_record
short_description: writes, reads and removes what Muster keeps of services
options:
  root: {type: str, default: '', description: prefix of every path on the host}
  records: {type: str, default: '{}', description: 'to write, as JSON: service → {mark, sealed}; one of the same mark stays as it is'}
  remove: {type: list, elements: str, default: [], description: services whose record goes, where none is written}
  others: {type: bool, default: false, description: so do those of all services that nothing is written of}
  read: {type: bool, default: false, description: changes nothing and returns what is there}
"""

import json
import os
import re

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.muster_host import read, write

NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
# Bytes of one record: what is larger was not written by Muster.
RECORD_MOST = 8 << 20


def there(folder):
    return sorted(f[: -len(".json")] for f in os.listdir(folder) if f.endswith(".json")) if os.path.isdir(folder) else []


def is_same(text, record):
    try:
        return json.loads((text or b"").decode("utf-8"))["mark"] == record["mark"]
    except (ValueError, KeyError, TypeError):
        return False


def update(folder, records, remove, others):
    changed = []
    gone = set(there(folder)) if others else set(remove)
    for name in sorted(gone - set(records)):
        path = os.path.join(folder, name + ".json")
        if os.path.exists(path):
            os.unlink(path)
            changed.append(path)
    for name, record in sorted(records.items()):
        path = os.path.join(folder, name + ".json")
        if not os.path.isdir(folder):
            os.makedirs(folder)
            os.chmod(folder, 0o700)
        if not is_same(read(path), record):
            write(path, (json.dumps(record) + "\n").encode("utf-8"), 0o600)
            changed.append(path)
    if os.path.isdir(folder) and not os.listdir(folder):
        os.rmdir(folder)
    return changed


def main():
    module = AnsibleModule(
        argument_spec=dict(
            root=dict(type="str", default=""),
            records=dict(type="str", default="{}"),
            remove=dict(type="list", elements="str", default=[]),
            others=dict(type="bool", default=False),
            read=dict(type="bool", default=False),
        ),
    )
    p = module.params
    folder = p["root"] + "/var/lib/muster/services"
    records = json.loads(p["records"])
    bad = [name for name in list(records) + p["remove"] if not NAME.match(name)]
    if bad:
        module.fail_json(msg="%s cannot name a service" % bad[0])
    try:
        if p["read"]:
            found = {}
            for name in there(folder):
                path = os.path.join(folder, name + ".json")
                with open(path, "rb") as f:
                    found[name] = f.read(RECORD_MOST).decode("ascii", "replace")
            module.exit_json(changed=False, records=found)
        changed = update(folder, records, p["remove"], p["others"])
    except EnvironmentError as error:
        module.fail_json(msg="%s: %s" % (error.filename, error.strerror))
    module.exit_json(changed=bool(changed), changes=changed)


if __name__ == "__main__":
    main()
