/**
 * `install.sh` of the archive: puts what lies beside it where discover would, and neither enrols nor starts it. Run again,
 * also with another version, it replaces what is there; what runs goes on until it is started anew.
 */
export const installScript = (home: string, commands: readonly string[]): string => `#!/bin/sh
# Puts this agent in its place: ${home}/VERSION, the commands, the unit. Needs root, and nothing from elsewhere.
set -eu
root="\${MUSTER_ROOT:-}"
home="$root${home}"
from="$(cd "$(dirname "$0")" && pwd)"
version="$(cat "$from/VERSION")"

if ! "$from/node" --version >/dev/null; then
  echo "install.sh: the Node of this archive does not run on this machine ($(uname -m))" >&2
  exit 1
fi

# Renamed into place: what stands under a version's name, or under a command's, is whole.
put_link() {
  ln -sfn "$1" "$2.new"
  mv -fT "$2.new" "$2"
}
mkdir -p "$home" "$root/usr/local/bin" "$root/etc/systemd/system"
if [ "$from" != "$home/$version" ] && [ ! -e "$home/$version/VERSION" ]; then
  rm -rf "$home/$version" "$home/$version.new"
  cp -R "$from" "$home/$version.new"
  mv -T "$home/$version.new" "$home/$version"
fi
put_link "$version" "$home/current"
for command in ${commands.join(' ')}; do
  put_link "$home/current/bin/$command" "$root/usr/local/bin/$command"
done
cp "$home/current/muster-agent.service" "$root/etc/systemd/system/muster-agent.service.new"
mv -f "$root/etc/systemd/system/muster-agent.service.new" "$root/etc/systemd/system/muster-agent.service"
if [ -z "$root" ]; then systemctl daemon-reload; fi

echo "muster-agent $version is in its place"
if [ -e "$root/etc/muster/agent.json" ]; then
  echo "next: systemctl enable muster-agent && systemctl restart muster-agent"
else
  echo "next: muster-agent enroll --server URL --token-file FILE"
fi
`;
