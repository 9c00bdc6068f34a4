from __future__ import annotations

from datetime import UTC, datetime, timedelta

from chalicelib.domain.lineage import Guarded, descents

EARLY = datetime(2026, 11, 30, tzinfo=UTC)
LATE = EARLY + timedelta(hours=1)
SECRET = "The vault opens with the blue key that hangs behind the third painting."
OTHER = "Honey from the heather is dark, and sells for more than any other in the valley."


def pairs(old: dict[str, str], new: dict[str, str], guarded: dict[str, tuple[str, datetime]]) -> list[tuple[str, str]]:
    """Texts by one-letter hashes; something else was said of each guarded one."""
    return descents(
        list(old.items()), list(new.items()), {name: Guarded(text, name, at) for name, (text, at) in guarded.items()}
    )


def test_without_a_guarded_text_nothing_descends() -> None:
    assert pairs({"a": OTHER}, {"c": SECRET}, {}) == []


def test_a_text_that_stays_keeps_its_own() -> None:
    assert pairs({"a": SECRET, "b": OTHER}, {"b": OTHER, "a": SECRET}, {"a": (SECRET, EARLY)}) == []


def test_what_shares_a_run_descends_wherever_it_stands_and_however_it_is_written() -> None:
    quoted = f"{OTHER} It is said: THE VAULT,  opens\nwith the blue-key that hangs. {OTHER}"
    assert pairs({"x": OTHER}, {"x": OTHER, "q": quoted}, {"s": (SECRET, EARLY)}) == [("q", "s")]
    assert (
        pairs(
            {"x": OTHER},
            {"x": OTHER, "q": quoted.replace("key", "").replace("opens", "closed")},
            {"s": (SECRET, EARLY)},
        )
        == []
    )


def test_what_stands_in_the_place_of_a_guarded_text_descends_from_it() -> None:
    old = {"a": OTHER, "s": SECRET, "b": "An end."}
    assert pairs(old, {"a": OTHER, "n": "Quite another text.", "b": "An end."}, {"s": (SECRET, EARLY)}) == [("n", "s")]
    beside = {"a": OTHER, "b": "An end.", "n": "Quite another text."}
    assert pairs(old, beside, {"s": (SECRET, EARLY)}) == []


def test_when_all_is_cut_anew_only_what_has_the_guarded_text_or_its_place_descends() -> None:
    sentences = [f"Word{number} of number{number} is {number * 7}." for number in range(30)]
    old = {f"o{at}": " ".join(sentences[at : at + 3]) for at in range(0, 30, 3)}
    new = {f"n{at}": " ".join(sentences[max(0, at) : at + 3]) for at in range(-1, 30, 3)}
    new["n11"] = new["n11"].replace(sentences[13], "A word that nobody has read before.")
    assert pairs(old, new, {"o12": (old["o12"], EARLY)}) == [("n11", "o12"), ("n14", "o12")]


def test_of_parents_of_which_the_same_was_said_one_is_named() -> None:
    guarded = {name: Guarded(SECRET + name, "the same", EARLY) for name in "abc"}
    assert len(descents([], [("n", SECRET)], guarded)) == 1


def test_a_short_guarded_text_must_be_there_as_a_whole() -> None:
    guarded = {"s": ("Key: 4711", EARLY)}
    assert pairs({"a": OTHER}, {"a": OTHER, "n": "Remember: key 4711, and the door."}, guarded) == [("n", "s")]
    assert pairs({"a": OTHER}, {"a": OTHER, "n": "Remember: key 47110, and the door."}, guarded) == []


def test_a_text_that_comes_back_takes_over_what_was_said_of_its_like_since() -> None:
    like = SECRET.replace("third", "fourth")
    new = {"a": OTHER, "l": like}
    assert pairs({"a": OTHER}, new, {"s": (SECRET, LATE), "l": (like, EARLY)}) == [("l", "s")]
    assert pairs({"a": OTHER}, new, {"s": (SECRET, EARLY), "l": (like, LATE)}) == []


def test_what_a_parent_takes_over_goes_on_to_its_own_heirs() -> None:
    middle = f"{SECRET[-30:]} {OTHER[:30]}"
    heir = f"A new one. {OTHER[:30]}"
    guarded = {"s": (SECRET, LATE), "m": (middle, EARLY)}
    assert pairs({"a": OTHER}, {"a": OTHER, "m": middle, "h": heir}, guarded) == [("h", "m"), ("h", "s"), ("m", "s")]
