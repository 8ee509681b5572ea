"""Runs the module of this name. In a check that shall say what differs (MUSTER_COMPARE) the files that are not as they
would be set up go into the run's own folder, and not into the result, which every callback sees."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import json
import os

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    TRANSFERS_FILES = False

    def run(self, tmp=None, task_vars=None):
        result = super(ActionModule, self).run(tmp, task_vars)
        folder = os.environ.get("MUSTER_COMPARE")
        args = dict(self._task.args)
        if folder:
            args["standing"] = True
        result.update(self._execute_module(module_name="muster_check", module_args=args, task_vars=task_vars))
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
