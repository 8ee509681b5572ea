"""Ends processes that an earlier run left behind, known by variables of their environment."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: muster_end_processes
short_description: SIGKILL to every process that matches, and wait until it is gone
options:
  environment: {type: dict, required: true, description: all of these variables have these values}
  unless: {type: dict, default: {}, description: spared where all of these variables have these values}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.muster_host import end, others, words


def settings(variables):
    return set("%s=%s" % (k, variables[k]) for k in variables)


def main():
    module = AnsibleModule(
        argument_spec=dict(environment=dict(type="dict", required=True), unless=dict(type="dict", default={})),
    )
    wanted, spared = settings(module.params["environment"]), settings(module.params["unless"])
    if not wanted:
        module.fail_json(msg="environment is empty: that would be every process")
    found = []
    for pid in others():
        environ = set(words(pid, "environ"))
        if wanted <= environ and not (spared and spared <= environ):
            found.append(pid)
    left = end(found)
    if left:
        module.fail_json(msg="still running: %s" % ", ".join(str(pid) for pid in left))
    module.exit_json(changed=bool(found), ended=found)


if __name__ == "__main__":
    main()
