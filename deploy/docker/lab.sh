#!/bin/sh
# In the container of the demo: commands of its lab, e.g. `lab status`, `lab kill host3`.
exec node /opt/muster/dist/lab/src/main.js --dir /lab/demo "$@"
