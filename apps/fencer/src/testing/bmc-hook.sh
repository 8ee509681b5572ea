#!/bin/sh
# chassis_control hook of a spec's BMC: bmc-hook.sh DIR get|set WHAT [VALUE]
# DIR/power is the power; DIR/log what was asked; faults are files in DIR:
#   stuck_on  writes are accepted and change nothing     fail_get  reads fail
#   slow      seconds that every command takes           answers   lines of power values, one taken for each read
dir=$1
echo "$2 $3 $4" >>"$dir/log"
[ -f "$dir/slow" ] && sleep "$(cat "$dir/slow")"
case "$2 $3" in
  'get power')
    [ -f "$dir/fail_get" ] && exit 1
    if [ -s "$dir/answers" ]; then
      value=$(head -n 1 "$dir/answers")
      sed -i 1d "$dir/answers"
    else
      value=$(cat "$dir/power")
    fi
    echo "power:$value"
    ;;
  'set power')
    [ -f "$dir/stuck_on" ] || echo "$4" >"$dir/power"
    ;;
esac
