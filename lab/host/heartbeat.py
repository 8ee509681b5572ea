"""
A workload that proves where it runs: every 50 ms one line {workload, host, boot, ns} to the ledger, ns on CLOCK_MONOTONIC,
which all hosts of one machine share. The file is opened anew by each run; a line is one write.

    heartbeat.py WORKLOAD
"""
import json
import os
import sys
import time

PERIOD_NS = 50_000_000


def main():
    workload = sys.argv[1]
    root = os.environ.get("MUSTER_ROOT", "")
    ledger = os.environ.get("MUSTER_LEDGER", "/run/ledger")
    with open(f"{root}/etc/hostname") as f:
        host = f.read().strip()
    boot_file = os.environ.get("MUSTER_BOOT_ID", "/proc/sys/kernel/random/boot_id")
    with open(boot_file) as f:
        boot = f.read().strip()
    out = os.open(f"{ledger}/{workload}@{host}@{boot}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    due = time.monotonic_ns()
    while True:
        now = time.monotonic_ns()
        line = {"workload": workload, "host": host, "boot": boot, "ns": now, "pid": os.getpid()}
        os.write(out, (json.dumps(line) + "\n").encode())
        due += PERIOD_NS
        if due < now:  # The process stood still: what it missed is not made up for.
            due = now + PERIOD_NS
        time.sleep(max(0, due - time.monotonic_ns()) / 1e9)


main()
