"""Profiles as TOML, for reading, editing and saving. Those saved in a knowledge base are its files
`profiles/NAME.toml`.

A file contains only differences from a built-in profile, so that a saved one follows later versions' defaults in
everything else.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from argot.errors import Conflict, InvalidSettings, NotFound
from argot.files import read_bytes
from argot.kept_files import PROFILES_FOLDER, FolderFiles, KeptFiles
from argot.profile import PROFILES, SWITCHES, Profile, change_profile, compare_switches, find_profile, parse_changes

SUFFIX = ".toml"
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
MAX_NAME_CHARS = 60
MAX_FILE_BYTES = 64 * 1024
"""Bytes."""

_HEAD = """\
# How questions are answered. A switch behind "#" is as in the default profile: take the "#" away to change it.
# Ask with it: argot ask --profile FILE.toml "...". Keep it: argot profile save NAME --from FILE.toml
"""


class SavedProfiles:
    """The profiles saved with a knowledge base, one file each, beside the built-in ones.

    Args:
        kept: the storage of its files; or its folder.
    """

    def __init__(self, kept: Path | KeptFiles) -> None:
        self._kept = FolderFiles(kept) if isinstance(kept, Path) else kept

    def names(self) -> list[str]:
        """List the names of the saved profiles, in order."""
        return [path.stem for path in self._files() if _can_be_saved(path.stem)]

    def list_ignored(self) -> list[Path]:
        """Return files here that are never read: a built-in profile has their name, or the name is invalid."""
        return [Path(self._kept.locate(str(path))) for path in self._files() if not _can_be_saved(path.stem)]

    def find(self, name: str) -> Profile:
        """Return the profile of this name, built in or saved.

        Raises:
            InvalidSettings: there is none, or its file is wrong; the message lists the existing ones.
        """
        if name in PROFILES:
            return PROFILES[name]
        if name not in self.names():
            there = ", ".join([*sorted(PROFILES), *self.names()])
            if "/" in name:
                raise InvalidSettings(
                    f"Unknown profile '{name}'. Profiles: {there}. A file of a profile ends in {SUFFIX}."
                )
            raise InvalidSettings(f"Unknown profile '{name}'. Profiles: {there}.")
        file = self._file(name)
        # By its file in the knowledge base: who names a profile need not know the folders of the machine.
        found = _load_profile(lambda: self._kept.read(file, MAX_FILE_BYTES + 1), file, name)
        return found.model_copy(update={"name": name})

    def save(self, name: str, profile: Profile, *, replace: bool = False) -> Profile:
        """Save a profile under this name.

        Raises:
            InvalidSettings: the name is invalid, or a built-in profile's.
            Conflict: there is one of this name, and `replace` is not given.
        """
        self.require_free(name, replace=replace)
        saved = profile.model_copy(update={"name": name})
        self._kept.write(self._file(name), format_profile(saved).encode())
        return saved

    def require_free(self, name: str, *, replace: bool = False) -> None:
        """Refuse a name under which `save` would fail, with the same errors."""
        if name.replace("-", "_") in PROFILES:
            raise InvalidSettings(f"'{name}' is a built-in profile, which stays as it is. Choose another name.")
        if not _is_name(name):
            raise InvalidSettings(
                f"'{name}' cannot be a profile's name. Use small letters, digits and hyphens between them, at most "
                f"{MAX_NAME_CHARS}, e.g. lab-notes."
            )
        if name in self.names() and not replace:
            raise Conflict(f"There is a profile '{name}' already. Choose another name, or replace it with --force.")

    def remove(self, name: str) -> None:
        """Remove a saved profile.

        Raises:
            InvalidSettings: it is built in. NotFound: none is saved under this name.
        """
        if name in PROFILES:
            raise InvalidSettings(f"'{name}' is a built-in profile, and cannot be removed.")
        if name not in self.names():
            raise NotFound(f"No profile '{name}' is saved here. Saved: {', '.join(self.names()) or 'none'}.")
        self._kept.remove(self._file(name))

    def _files(self) -> list[PurePosixPath]:
        return [PurePosixPath(name) for name in self._kept.names(PROFILES_FOLDER, SUFFIX)]

    def _file(self, name: str) -> str:
        return f"{PROFILES_FOLDER}/{name}{SUFFIX}"


def load_profile(name_or_file: str, changes: Sequence[str] = (), home: Path | KeptFiles | None = None) -> Profile:
    """Return a profile by its name, or from a TOML file, with single switches changed ("rerank=off").

    Args:
        home: the knowledge base whose saved profiles are available beside the built-in ones: its folder, or the storage
            of its files.

    Raises:
        InvalidSettings: there is no such profile, file, switch or value; the message names it and the alternatives.
    """
    if is_file(name_or_file):
        profile = read_profile_file(Path(name_or_file))
    else:
        profile = SavedProfiles(home).find(name_or_file) if home else find_profile(name_or_file)
    return change_profile(profile, parse_changes(changes))


def is_file(name_or_file: str) -> bool:
    return name_or_file.endswith(SUFFIX)


def read_profile_file(path: Path) -> Profile:
    """Return the profile in a TOML file.

    Raises:
        InvalidSettings: it cannot be read, or its content is invalid.
    """
    return _load_profile(lambda: read_bytes(path, MAX_FILE_BYTES + 1), str(path), path.stem)


def _load_profile(read: Callable[[], bytes], shown: str, name: str) -> Profile:
    try:
        text = read()
        if len(text) > MAX_FILE_BYTES:
            raise InvalidSettings(f"It is longer than {MAX_FILE_BYTES} bytes.")
        return read_profile(text.decode("utf-8-sig"), name)
    except OSError as error:
        raise InvalidSettings(f"The profile {shown} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidSettings(
            f"The profile {shown} cannot be read: byte {error.start + 1} is not UTF-8 text."
        ) from error
    except InvalidSettings as error:
        raise InvalidSettings(f"The profile {shown} cannot be used. {error}") from error


def read_profile(text: str, name: str) -> Profile:
    """Return a profile from TOML. `base = "strict"` names the built-in profile it starts from; the default otherwise.

    Raises:
        InvalidSettings: it is no TOML, or names an invalid switch or value.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(f"It is not valid TOML: {error}.") from error
    base, name = str(values.pop("base", "default")), str(values.pop("name", name))
    about = values.pop("about", "")
    # Before the switches, so that it does not count as a change that the profile's name lists.
    started = find_profile(base).model_copy(update={"about": str(about)[:500]})
    return change_profile(started, values).model_copy(update={"name": name})


def format_profile(profile: Profile) -> str:
    """Return every switch with its description; those with default values are commented out by "#"."""
    changed = compare_switches(profile)
    lines = [_HEAD, f"about = {_format_value(profile.about)}"]
    for switch in SWITCHES:
        mark = "" if switch in changed else "#"
        value = _format_value(getattr(profile, switch))
        lines.append(f"\n# {Profile.model_fields[switch].description}\n{mark}{switch} = {value}")
    return "\n".join(lines) + "\n"


def _format_value(value: object) -> str:
    """JSON's strings, booleans, numbers and lists are TOML's too, except for DEL, which TOML wants escaped."""
    plain = list(value) if isinstance(value, tuple) else value
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")


def _can_be_saved(name: str) -> bool:
    return _is_name(name) and name not in PROFILES


def _is_name(name: str) -> bool:
    return NAME.fullmatch(name) is not None and len(name) <= MAX_NAME_CHARS
