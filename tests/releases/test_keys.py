"""Keys of the table `releases`: different names never have the same key, and every key is short enough."""

from itertools import combinations

import pytest
from runledger.tables import release_keys
from runledger.tables.release_keys import LONGEST_PART, key_part

MOST_BYTES_OF_A_SORT_KEY = 1024
HOSTILE = ("a", "a#b", "a%23b", "a%b", "a%25b", "a#", "#a", "%", "#", "feature/1", "ü", "ß" * 300, "ß" * 301, "#" * 255)


def test_free_text_never_ends_a_part_of_a_key() -> None:
    assert key_part("release#1") == "release%231"
    assert key_part("50%") == "50%25"
    assert key_part("feature/größe") == "feature/größe"


@pytest.mark.parametrize(("one", "other"), list(combinations(HOSTILE, 2)))
def test_different_names_have_different_keys(one: str, other: str) -> None:
    assert key_part(one) != key_part(other)
    assert release_keys.head_sort("acme/shop", one, 1) != release_keys.head_sort("acme/shop", other, 1)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_name_is_the_key_of_another(text: str) -> None:
    encoded = key_part(text)
    assert encoded == text or key_part(encoded) != encoded


def test_names_with_separators_have_different_keys() -> None:
    assert release_keys.build_key(1, "a#b", "c", "1") != release_keys.build_key(1, "a", "b#c", "1")
    assert release_keys.environment_sort("acme/shop", "a#b").count("#") == 1


@pytest.mark.parametrize("text", ["🚀" * 255, "#" * 1000, "x" * 5000])
def test_keys_of_long_names_fit(text: str) -> None:
    assert len(key_part(text).encode()) <= LONGEST_PART
    keys = (
        release_keys.head_sort("o" * 39 + "/" + "r" * 100, text, 10**18),
        release_keys.environment_sort("o" * 39 + "/" + "r" * 100, text),
        release_keys.file_sort(text, text, "1" * 100, text, text),
        release_keys.rebuild_sort(text, text, text),
    )
    assert max(len(key.encode()) for key in keys) <= MOST_BYTES_OF_A_SORT_KEY


def test_runs_are_in_the_order_of_their_ids() -> None:
    assert sorted([10, 9, 10**12, 2], key=release_keys.numbered) == [2, 9, 10, 10**12]


def test_a_prefix_names_exactly_one_branch() -> None:
    assert release_keys.head_sort("acme/shop", "main", 7).startswith(release_keys.head_prefix("acme/shop", "main"))
    assert not release_keys.head_sort("acme/shop", "main2", 7).startswith(release_keys.head_prefix("acme/shop", "main"))
    assert not release_keys.head_sort("acme/shopper", "main", 7).startswith(release_keys.head_prefix("acme/shop"))
