"""The machine that a run takes place on, and what else it is doing when the run begins."""

from __future__ import annotations

import logging
import os
import platform
import re
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from driver.run.record_types import Machine
from polling_baseline.project import state_folder

log = logging.getLogger("lrb")

PROC, SYS = Path("/proc"), Path("/sys")
SAMPLE_S = 0.1
# From so many cores on, what other programs do is worth a warning.
BUSY_CORES = 0.5


def describe_machine() -> Machine:
    """What is known of it; a system that does not say something leaves it out."""
    machine: Machine = {
        "cores": os.cpu_count() or 1,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "kernel": platform.release(),
        "load": round(os.getloadavg()[0], 2),
    }
    cpuinfo = _read(PROC / "cpuinfo")
    if cpu := _field(cpuinfo, "model name") or _from_sysctl() or platform.processor():
        machine["cpu"] = " ".join(cpu.split())
    if clocks := re.findall(r"^cpu MHz\s*: ([\d.]+)$", cpuinfo, re.MULTILINE):
        machine["mhz"] = round(max(map(float, clocks)))
    with suppress(OSError, ValueError):
        machine["disk"] = disk_of(state_folder())
    return machine


def cores_used_by_others(sample_s: float = SAMPLE_S) -> float | None:
    """How many cores other programs keep busy at this moment; None on a system that does not tell.

    What a hypervisor takes away counts, too.
    """
    before = _busy_s()
    if before is None:
        return None
    own, begun = time.process_time(), time.perf_counter()
    time.sleep(sample_s)
    own, took_s = time.process_time() - own, time.perf_counter() - begun
    after = _busy_s() or before
    return round(max(0.0, after - before - own) / took_s, 2)


def note_others(machine: Machine, cores: float | None) -> None:
    """Enter what other programs did, and warn whoever watches."""
    if cores is not None:
        machine["others_cores"] = cores
    if sentence := warning(machine):
        log.warning("%s", sentence)


def warning(machine: Machine) -> str | None:
    """A sentence if something else was running when the run began."""
    others = machine.get("others_cores")
    if others is None or others < BUSY_CORES:
        return None
    return (
        f"something else was running at the start: it kept {others:.1f} of {machine['cores']} cores busy; "
        "times may be longer than on an idle machine"
    )


def warning_of_runs(machines: Sequence[Machine]) -> str | None:
    """One sentence for all runs that began while something else was running."""
    busy = [machine for machine in machines if warning(machine)]
    if not busy:
        return None
    return (
        f"Something else was running when {len(busy)} of {len(machines)} runs began: it kept up to "
        f"{max(machine['others_cores'] for machine in busy):.1f} of {busy[0]['cores']} cores busy; "
        "times may be longer than on an idle machine."
    )


def machine_words(machine: Machine) -> list[str]:
    """The machine for people: processor, memory, disk, kernel."""
    words = [f"{machine['memory_gb']:g} GB of memory"]
    if "cpu" in machine:
        words.insert(0, machine["cpu"] + (f" at {machine['mhz']:,} MHz" if "mhz" in machine else ""))
    words += [f"disk {machine['disk']}"] if "disk" in machine else []
    words += [f"{machine['system'].split()[0]} {machine['kernel']}"] if "kernel" in machine else []
    return words + ([f"load {machine['load']:g} at the start"] if "load" in machine else [])


def disk_of(path: Path) -> str:
    """The file system that a folder lies on, or will lie on, and the device below it as far as it is known."""
    place = str(path.resolve())
    mounts = [line.split() for line in _read(PROC / "self" / "mountinfo").splitlines()]
    on_it = [words for words in mounts if _is_above(_unescaped(words[4]), place)]
    # The last of those mounted on one place hides the others.
    words = max(enumerate(on_it), key=lambda item: (len(item[1][4]), item[0]))[1]
    kind = words[words.index("-") + 1]
    return ", ".join([kind, *_device(SYS / "dev" / "block" / words[2])])


def _device(folder: Path) -> list[str]:
    """Model and kind of a block device; of a partition or a mapping, of what it is part of."""
    if not folder.exists():
        return []
    folder = folder.resolve()
    if (folder / "partition").exists():
        folder = folder.parent
    for slave in sorted(folder.glob("slaves/*")):
        return _device(slave)
    model = " ".join(_read(folder / "device" / "model").split())
    if not model:
        # A virtual one does not know what it lies on.
        return [folder.name]
    kinds = {"0": "not rotating", "1": "rotating"}
    rotates = _read(folder / "queue" / "rotational").strip()
    return [model, *([kinds[rotates]] if rotates in kinds else [])]


def _is_above(mount: str, place: str) -> bool:
    return place == mount or place.startswith(mount.rstrip("/") + "/")


def _unescaped(text: str) -> str:
    """mountinfo writes blanks and the like as \\040."""
    return re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), text)


def _busy_s() -> float | None:
    """Seconds that all cores together have worked since the machine was started."""
    words = _read(PROC / "stat").split(maxsplit=9)[1:9]
    if len(words) < 8:
        return None
    user, nice, system, _idle, _waiting, irq, softirq, stolen = map(int, words)
    return (user + nice + system + irq + softirq + stolen) / os.sysconf("SC_CLK_TCK")


def _field(text: str, name: str) -> str | None:
    match = re.search(rf"^{name}\s*: (.+)$", text, re.MULTILINE)
    return match[1] if match else None


def _from_sysctl() -> str | None:
    """The processor's name on macOS."""
    with suppress(OSError):
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=5)
        return done.stdout.strip() or None
    return None


def _read(path: Path) -> str:
    """The text of a file of the system; nothing if there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
