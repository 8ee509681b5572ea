"""Runs the module of this name. In a check that shall say what differs (MUSTER_COMPARE) the files that are not as they
would be set up go into the run's own folder, and not into the result, which every callback sees. Nor does what the
module was given, or has printed in place of a result: both may hold contents of files."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import json
import os
import re

from ansible.plugins.action import ActionBase


def without_output(told):
    """Of what could not be read as a result: that it could not, and the kind of fault."""
    said = "%s\n%s" % (told.get("module_stderr", ""), told["module_stdout"])
    # The last line of a traceback, up to its message.
    faults = re.findall(r"^(?:\w+\.)*(\w+(?:Error|Exception))\b", said, re.MULTILINE)
    how = "exit code %s%s" % (told.get("rc"), ", " + faults[-1] if faults else "")
    # Ansible's own words; the line about stdout and stderr is about what is not shown.
    hint = told.get("msg", "").split("\n")[0]
    why = "" if hint == "MODULE FAILURE" else ": " + hint
    msg = "muster_check ended without a result (%s)%s. What it printed may hold contents of files, and is not shown" % (how, why)
    return dict(failed=True, msg=msg)


class ActionModule(ActionBase):
    TRANSFERS_FILES = False

    def run(self, tmp=None, task_vars=None):
        result = super(ActionModule, self).run(tmp, task_vars)
        folder = os.environ.get("MUSTER_COMPARE")
        args = dict(self._task.args)
        if folder:
            args["standing"] = True
        told = self._execute_module(module_name="muster_check", module_args=args, task_vars=task_vars)
        result.update(without_output(told) if "module_stdout" in told else told)
        result.pop("invocation", None)
        standing = result.pop("standing", None)
        if folder and standing:
            wanted = dict((f["path"], f["content"]) for f in args.get("files", []))
            told = [dict(f, service=result["finding"]["service"], wanted=wanted[f["path"]]) for f in standing]
            self.put(folder, task_vars["inventory_hostname"], told)
        return result

    def put(self, folder, host, told):
        os.makedirs(os.path.join(folder, "standing"), 0o700, exist_ok=True)
        handle = os.open(os.path.join(folder, "standing", host), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "w") as f:
            for entry in told:
                f.write(json.dumps(entry) + "\n")
