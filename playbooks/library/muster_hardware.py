"""What a machine says of itself from within: compared with what its power device says. Reads only."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: muster_hardware
short_description: UUID and serial numbers by DMI, and the GUID of the machine's own BMC, told as Muster's `hardware`
options:
  root: {type: str, default: '', description: prefix of every path on the host}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.muster_host import hardware


def main():
    module = AnsibleModule(argument_spec=dict(root=dict(type="str", default="")), supports_check_mode=True)
    module.exit_json(changed=False, muster=dict(hardware=hardware(module, module.params["root"])))


if __name__ == "__main__":
    main()
