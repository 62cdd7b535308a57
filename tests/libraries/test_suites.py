"""The libraries' own suites pass on pycompiler, but for the failures that known/ lists with reasons (suites.toml)."""

import importlib.metadata
import re

import pytest
from library_suites import HERE, ON_JAX, SUITES, Outcome, known_failures, read_report, run


@pytest.mark.parametrize("name", SUITES)
def test_the_suite_passes_but_for_known_failures(name: str):
    distribution = SUITES[name].get("distribution", name)
    try:
        version = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(
            f"{distribution} is not installed: it is in the extra `libraries` (make test-libraries installs it)"
        )
    assert version == SUITES[name]["version"], "suites.toml and the extra `libraries` differ"
    known = known_failures(name)
    outcome = run(name)
    assert len(outcome.passed) + len(outcome.failed) >= SUITES[name]["tests"]
    news = outcome.news(known)
    assert not news, f"{len(news)} differences from known/{name}.txt:\n" + "\n".join(news)
    assert outcome.share(known) >= SUITES[name]["share"]


def test_the_lists_have_reasons():
    for path in (HERE / "known").glob("*.txt"):
        assert path.stem in SUITES
        for test, reason in known_failures(path.stem).items():
            assert test, f"{path.name}: a line without a reason"
            assert re.fullmatch(r"[^?].{2,}", reason), f"{path.name}: {test}: no reason"


def test_news_are_failures_without_a_line_and_lines_of_tests_that_pass():
    outcome = Outcome(frozenset({"a", "b", "c"}), {"d": "E", "e": "F"}, 0)
    assert outcome.news({"d": "strings", "e": ON_JAX, "c": ON_JAX}) == []
    assert outcome.news({"a": "strings", "d": "strings"}) == ["fails: e: F", "passes, delete its line: a"]
    assert outcome.share({"e": ON_JAX}) == 3 / 4


def test_what_passes_alone_has_passed():
    outcome = Outcome(frozenset({"a"}), {"b": "E", "c": "F"}, 1)
    assert outcome.after(Outcome(frozenset({"b"}), {"c": "F"}, 0)) == Outcome(frozenset({"a", "b"}), {"c": "F"}, 1)


def test_reports_are_read(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite><testcase classname="m.C" name="test_a[f at 0x7f12]"/>'
        '<testcase classname="m.C" name="test_b"><failure message="E: no&#10;more">text</failure></testcase>'
        '<testcase classname="" name="m"><error message="collection failure">text</error></testcase>'
        '<testcase classname="m" name="test_c"><skipped/></testcase></testsuite></testsuites>'
    )
    outcome = read_report(report)
    assert outcome.passed == {"m.C::test_a[f at 0x]"}
    assert outcome.failed == {"m.C::test_b": "E: no", "collection::m": "collection failure"}
    assert outcome.skipped == 1
