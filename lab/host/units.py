"""Unit files as systemd reads them: the part of it that services of a lab host need. No processes here, only files."""
import os
import re
import shlex

VARIABLE = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class UnitError(Exception):
    pass


def full_name(name):
    return name if "." in name.rpartition("/")[2] and name.rsplit(".", 1)[1] in KINDS else f"{name}.service"


KINDS = ("service", "target", "socket", "timer", "path", "mount")


def parse(text):
    """Section → directive → values in order; an empty value clears what came before, as in systemd."""
    sections = {}
    section = None
    pending = ""
    for raw in text.splitlines():
        line = pending + raw.strip()
        pending = ""
        if not line or line[0] in "#;":
            continue
        if line.endswith("\\"):
            pending = line[:-1] + " "
            continue
        if line.startswith("[") and line.endswith("]"):
            section = sections.setdefault(line[1:-1], {})
            continue
        key, sign, value = line.partition("=")
        if not sign or section is None:
            raise UnitError(f"cannot read the line {line!r}")
        key, value = key.strip(), value.strip()
        if value == "":
            section[key] = []
        else:
            section.setdefault(key, []).append(value)
    return sections


def merge(base, extra):
    for name, directives in extra.items():
        section = base.setdefault(name, {})
        for key, values in directives.items():
            section[key] = section.get(key, []) + values if values else []
    return base


UNITS_OF_TIME = {"us": 1e-6, "ms": 1e-3, "s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600, "hr": 3600, "d": 86400}


def seconds(text):
    """`100ms`, `1min 30s`, `5`; `infinity` is no limit."""
    if text == "infinity":
        return float("inf")
    total, number = 0.0, ""
    unit = ""
    for c in text + " ":
        if c.isdigit() or c == ".":
            if unit:
                total, number, unit = total + float(number) * UNITS_OF_TIME[unit], "", ""
            number += c
        elif c.isalpha():
            unit += c
        elif number and unit:
            total, number, unit = total + float(number) * UNITS_OF_TIME[unit], "", ""
    if number:
        total += float(number) * UNITS_OF_TIME[unit or "s"]
    return total


class Unit:
    """One loaded unit: its file, what it says, and the questions that the supervisor asks of it."""

    def __init__(self, name, path, sections, host):
        self.name = name
        self.path = path
        self.sections = sections
        self.host = host

    def values(self, section, key):
        return [self.expand(v) for v in self.sections.get(section, {}).get(key, [])]

    def last(self, section, key, fallback=None):
        found = self.values(section, key)
        return found[-1] if found else fallback

    def flag(self, section, key):
        return (self.last(section, key, "no") or "no").lower() in ("yes", "true", "on", "1")

    def words(self, section, key):
        return [w for v in self.values(section, key) for w in v.split()]

    def span(self, section, key, fallback):
        text = self.last(section, key)
        return fallback if text is None else seconds(text)

    def expand(self, text):
        if "%" not in text:
            return text
        stem = self.name.rsplit(".", 1)[0]
        prefix, _, instance = stem.partition("@")
        known = {"n": self.name, "N": stem, "p": prefix, "i": instance, "I": instance, "H": self.host, "%": "%", "t": "/run", "S": "/var/lib"}
        out, at = "", 0
        while at < len(text):
            if text[at] == "%" and at + 1 < len(text) and text[at + 1] in known:
                out += known[text[at + 1]]
                at += 2
            else:
                out += text[at]
                at += 1
        return out

    def commands(self, key):
        """[(failure is ignored, argv)]; `$NAME` and `${NAME}` are left to the supervisor, which knows the environment."""
        out = []
        for value in self.values("Service", key):
            ignored = False
            while value and value[0] in "-+!@:":
                ignored = ignored or value[0] == "-"
                value = value[1:]
            argv = shlex.split(value)
            if argv:
                out.append((ignored, argv))
        return out

    def environment(self, root):
        out = {}
        for value in self.values("Service", "Environment"):
            for pair in shlex.split(value):
                name, _, text = pair.partition("=")
                out[name] = text
        for path in self.values("Service", "EnvironmentFile"):
            optional = path.startswith("-")
            path = path.lstrip("-")
            if root and not path.startswith(root):
                path = root + path
            try:
                with open(path) as f:
                    for line in f:
                        line = line.strip()
                        if line and line[0] not in "#;" and "=" in line:
                            name, _, text = line.partition("=")
                            out[name.strip()] = " ".join(shlex.split(text)) if text[:1] in "\"'" else text
            except OSError as e:
                if not optional:
                    raise UnitError(f"EnvironmentFile {path}: {e.strerror}") from e
        return out


def with_variables(argv, environment):
    """`${A}` inside a word; `$A` as a word of its own is split at spaces; `$$` is one `$`: as systemd does."""
    out = []
    for word in argv:
        if word.startswith("$") and word[1:].isidentifier():
            out.extend(environment.get(word[1:], "").split())
        else:
            out.append(VARIABLE.sub(lambda m: "$" if m.group(1) is None else environment.get(m.group(1), ""), word))
    return out


class UnitFiles:
    """The folders that unit files live in, below an optional root."""

    def __init__(self, root, host):
        self.root = root
        self.host = host
        self.etc = f"{root}/etc/systemd/system"
        self.own = [self.etc, f"{root}/run/systemd/system", f"{root}/usr/local/lib/systemd/system"]
        # Last: what packages bring. Those of the machine itself are below the host's; none of them is enabled there.
        self.folders = [*self.own, f"{root}/usr/lib/systemd/system"]

    def find(self, name):
        stem, _, kind = name.rpartition(".")
        names = [name] if "@" not in stem else [name, f"{stem.partition('@')[0]}@.{kind}"]
        for candidate in names:
            for folder in self.folders:
                path = os.path.join(folder, candidate)
                if os.path.lexists(path):
                    return path
        return None

    def is_masked(self, name):
        path = self.find(name)
        return path is not None and os.path.islink(path) and os.readlink(path) == "/dev/null"

    def load(self, name):
        """The unit, or None where there is no file for it. UnitError where the file is broken or masked."""
        path = self.find(name)
        if path is None:
            return None
        if self.is_masked(name):
            raise UnitError(f"Unit {name} is masked.")
        sections = {}
        drop_ins = []
        for folder in self.folders:
            d = os.path.join(folder, f"{name}.d")
            if os.path.isdir(d):
                drop_ins += [os.path.join(d, f) for f in os.listdir(d) if f.endswith(".conf")]
        for file in [path, *sorted(drop_ins, key=os.path.basename)]:
            try:
                with open(file) as f:
                    merge(sections, parse(f.read()))
            except OSError as e:
                raise UnitError(f"{file}: {e.strerror}") from e
        return Unit(name, path, sections, self.host)

    def links(self, unit):
        """Where `enable` puts its symlinks."""
        out = [os.path.join(self.etc, f"{t}.wants", unit.name) for t in unit.words("Install", "WantedBy")]
        out += [os.path.join(self.etc, f"{t}.requires", unit.name) for t in unit.words("Install", "RequiredBy")]
        return out + [os.path.join(self.etc, a) for a in unit.words("Install", "Alias")]

    def enabled_state(self, name):
        """As `systemctl is-enabled` says it; None: no such unit."""
        path = self.find(name)
        if path is None:
            return None
        if self.is_masked(name):
            return "masked"
        unit = self.load(name)
        links = self.links(unit)
        if any(os.path.islink(link) for link in links):
            return "enabled"
        return "disabled" if links else "static"

    def enable(self, name):
        unit = self.load(name)
        if unit is None:
            raise UnitError(f"Failed to enable unit: Unit file {name} does not exist.")
        made = []
        for link in self.links(unit):
            if not os.path.islink(link):
                os.makedirs(os.path.dirname(link), exist_ok=True)
                os.symlink(unit.path, link)
                made.append(f"Created symlink {link} → {unit.path}.")
        return made

    def disable(self, name):
        removed = []
        if not os.path.isdir(self.etc):
            return removed
        for folder in os.listdir(self.etc):
            link = os.path.join(self.etc, folder, name)
            if folder.endswith((".wants", ".requires")) and os.path.islink(link):
                os.unlink(link)
                removed.append(f"Removed {link}.")
        return removed

    def mask(self, name):
        path = os.path.join(self.etc, name)
        if os.path.lexists(path) and not os.path.islink(path):
            raise UnitError(f"Failed to mask unit: File {path} already exists.")
        os.makedirs(self.etc, exist_ok=True)
        if os.path.islink(path):
            os.unlink(path)
        os.symlink("/dev/null", path)

    def unmask(self, name):
        path = os.path.join(self.etc, name)
        if os.path.islink(path) and os.readlink(path) == "/dev/null":
            os.unlink(path)

    def enabled_at_boot(self):
        """Services wanted by the default target, each after those that it names in After=."""
        wanted = set()
        for target in ("multi-user.target", "default.target", "sysinit.target", "basic.target", "network-online.target"):
            for kind in ("wants", "requires"):
                folder = os.path.join(self.etc, f"{target}.{kind}")
                if os.path.isdir(folder):
                    wanted.update(n for n in os.listdir(folder) if n.endswith(".service"))
        order, done = [], set()

        def visit(name):
            if name in done:
                return
            done.add(name)
            try:
                unit = self.load(name)
            except UnitError:
                unit = None
            for before in sorted(unit.words("Unit", "After") if unit else []):
                if before in wanted:
                    visit(before)
            order.append(name)

        for name in sorted(wanted):
            visit(name)
        return order

    def all_names(self, packaged=False):
        names = set()
        for folder in self.folders if packaged else self.own:
            if os.path.isdir(folder):
                names.update(n for n in os.listdir(folder) if n.endswith(KINDS) and not os.path.isdir(os.path.join(folder, n)))
        return sorted(names)
