"""Profiles as TOML files: a shown profile can be saved and read back, and mistakes are reported."""

import os
from pathlib import Path

import pytest

from argot.errors import ArgotError, Conflict, InvalidSettings
from argot.profile import PROFILES, SWITCHES, Profile, change_profile, compare_switches, parse_changes
from argot.profile_files import (
    MAX_FILE_BYTES,
    SavedProfiles,
    format_profile,
    load_profile,
    read_profile,
    read_profile_file,
)


@pytest.mark.parametrize("name", PROFILES)
def test_a_formatted_profile_is_read_back_unchanged(name: str) -> None:
    assert read_profile(format_profile(PROFILES[name]), name) == PROFILES[name]


def test_every_switch_is_shown_with_its_description() -> None:
    shown = format_profile(Profile())
    for switch in SWITCHES:
        described = Profile.model_fields[switch].description
        assert described and f"\n# {described}\n#{switch} = " in shown
    assert read_profile(shown, "default") == Profile()


def test_every_commented_line_is_valid_when_uncommented() -> None:
    lines = [
        line.removeprefix("#") if " = " in line and line[1:2] != " " else line
        for line in format_profile(Profile()).splitlines()
    ]
    assert read_profile("\n".join(lines), "default") == Profile()


@pytest.mark.parametrize("about", ['Quotes "so", \\ and\nlines', "\x7f\x00", "Ä → 語", "# no comment"])
def test_the_description_of_a_profile_may_be_any_text(about: str) -> None:
    profile = Profile(name="x", about=about)
    assert read_profile(format_profile(profile), "x") == profile


def test_a_saved_profile_stores_only_its_changes(tmp_path: Path) -> None:
    saved = SavedProfiles(tmp_path)
    saved.save("lab", change_profile(PROFILES["strict"], {"passages": 20}))
    assert compare_switches(saved.find("lab")) == {"misses": "strict", "withhold_unsupported": True, "passages": 20}
    assert (saved.names(), saved.find("lab").name) == (["lab"], "lab")
    active = [
        line for line in (tmp_path / "profiles" / "lab.toml").read_text().splitlines() if line[:1] not in ("", "#")
    ]
    assert active == ['about = "Says nothing that no passage supports, and answers no question with an unknown term."',
                      'misses = "strict"', "withhold_unsupported = true", "passages = 20"]  # fmt: skip


@pytest.mark.parametrize(
    "name", ["", "../x", "a/b", "A", "a b", "-a", "a--b", "x.toml", "é", "a" * 61, "a" * 300, "CON\0"]
)
def test_an_unsafe_profile_name_is_refused(tmp_path: Path, name: str) -> None:
    saved = SavedProfiles(tmp_path)
    with pytest.raises(InvalidSettings, match="small letters"):
        saved.save(name, Profile())
    with pytest.raises(InvalidSettings, match="Unknown profile"):
        saved.find(name)
    assert not (tmp_path / "profiles").exists()


@pytest.mark.parametrize("name", ["default", "plain_rag", "plain-rag"])
def test_a_built_in_profile_cannot_be_replaced(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidSettings, match="built-in"):
        SavedProfiles(tmp_path).save(name, Profile(), replace=True)


def test_a_saved_profile_is_replaced_only_on_request(tmp_path: Path) -> None:
    saved = SavedProfiles(tmp_path)
    saved.save("lab", Profile(rerank=False))
    with pytest.raises(Conflict, match="--force"):
        saved.save("lab", Profile())
    assert not saved.find("lab").rerank
    saved.save("lab", Profile(), replace=True)
    assert saved.find("lab").rerank


def test_files_with_other_names_are_not_listed_as_profiles(tmp_path: Path) -> None:
    folder = tmp_path / "profiles"
    folder.mkdir()
    for name in ("lab.toml", "Lab 2.toml", ".lab.toml", "lab.toml.swp", "notes.txt"):
        (folder / name).write_text("rerank = false\n")
    assert SavedProfiles(tmp_path).names() == ["lab"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("rerak=off", "Unknown switch 'rerak'. Did you mean rerank?"),
        ("name=x", "Unknown switch 'name'"),
        ("rerank", "Write a switch and its value"),
        ("rerank=perhaps", "rerank cannot be 'perhaps': write on or off."),
        ("passages=0", "passages cannot be '0'"),
        ("misses=never", "misses cannot be 'never'"),
        ("derived_kinds=summary,poem", "derived_kinds cannot be 'poem'"),
        ("match_references=off", "withhold_unsupported needs match_references"),
    ],
)
def test_an_unknown_switch_or_value_is_reported(change: str, told: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        load_profile("strict", [change])
    assert told in str(refused.value)


@pytest.mark.parametrize(
    "text", ["rerank = ", "rerank = 'perhaps'", "[rerank]\non = true", "base = 'lab'", "rerak = false", "\xff"]
)
def test_an_invalid_profile_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidSettings, match=r"mine\.toml"):
        load_profile(str(path))
    with pytest.raises(ArgotError, match=r"absent\.toml"):
        load_profile(str(tmp_path / "absent.toml"))


def test_changes_on_the_command_line_are_parsed() -> None:
    profile = load_profile(
        "default", ["rerank=off", "passages=20", "derived_kinds=summary, question", "misses=lenient"]
    )
    changed = {"rerank": False, "passages": 20, "derived_kinds": ["summary", "question"], "misses": "lenient"}
    assert compare_switches(profile) == changed
    assert profile.name == "default rerank=off passages=20 derived_kinds=summary,question misses=lenient"
    assert parse_changes(["rerank=on"]) == {"rerank": True}


def test_a_saved_file_named_like_a_built_in_profile_is_ignored(tmp_path: Path) -> None:
    saved = SavedProfiles(tmp_path)
    (tmp_path / "profiles").mkdir()
    ((tmp_path / "profiles") / "default.toml").write_text("passages = 3\n")
    assert saved.names() == []
    assert [path.name for path in saved.list_ignored()] == ["default.toml"]


def test_an_unreadable_profile_file_is_refused_with_one_clear_reason(tmp_path: Path) -> None:
    long, binary, pipe = (tmp_path / f"{name}.toml" for name in ("long", "binary", "pipe"))
    long.write_text("#" * (MAX_FILE_BYTES + 1))
    binary.write_bytes(b"\xff")
    os.mkfifo(pipe)
    for path, reason in (
        (long, f"cannot be used. It is longer than {MAX_FILE_BYTES} bytes."),
        (binary, "cannot be read: byte 1 is not UTF-8 text."),
        (pipe, "cannot be read: a pipe, and no file."),
        (tmp_path / "none.toml", "cannot be read: No such file or directory."),
    ):
        with pytest.raises(InvalidSettings) as refused:
            read_profile_file(path)
        assert str(refused.value) == f"The profile {path} {reason}"


def test_a_path_without_toml_is_refused_with_the_expected_suffix(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match=r"Unknown profile './noext'.* A file of a profile ends in \.toml\."):
        load_profile("./noext", home=tmp_path)


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_number_that_is_not_finite_is_refused(value: str) -> None:
    with pytest.raises(InvalidSettings, match=f"abstain_below cannot be '{value}': .* finite number"):
        load_profile("default", [f"abstain_below={value}"])
