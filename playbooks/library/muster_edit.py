"""Changes a file as somebody at the console would, and takes the change back: for the test of a service, whose check must
find it. Nothing else uses it."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: muster_edit
short_description: a line at the end of a file, or that line gone again
options:
  path: {type: str, required: true, description: a file that is there}
  state: {type: str, choices: [changed, original], default: changed}
"""

import os

from ansible.module_utils.basic import AnsibleModule

LINE = b"\n# changed by hand (muster service test)\n"


def main():
    module = AnsibleModule(
        argument_spec=dict(
            path=dict(type="str", required=True),
            state=dict(type="str", choices=["changed", "original"], default="changed"),
        ),
    )
    path, state = module.params["path"], module.params["state"]
    try:
        with open(path, "r+b") as f:
            content = f.read()
            if state == "changed":
                f.write(LINE)
            elif content.endswith(LINE):
                f.truncate(len(content) - len(LINE))
            else:
                module.fail_json(msg="%s was written by somebody else meanwhile" % path)
            f.flush()
            os.fsync(f.fileno())
    except EnvironmentError as error:
        module.fail_json(msg="%s: %s" % (path, error.strerror))
    module.exit_json(changed=True, muster=dict(edited=path) if state == "changed" else {})


if __name__ == "__main__":
    main()
