"""Each example of each page, and of the README, runs and prints the written output, by the rules in pages.py."""

import contextlib

import pytest
from pages import DOCUMENTS, ROOT, RUN, SHOWN, Runner, blocks, head

import pycompiler as pc
from pycompiler.core.config.settings import TABLE


def settings():
    return {setting.name: getattr(pc.config, setting.name) for setting in TABLE}


def check(page, folder):
    """Run the page's examples in a separate folder. A page must restore the settings that it changes."""
    runner, before = Runner(page, folder), settings()
    try:
        with contextlib.chdir(folder):
            for block in blocks(page):
                if block.language in RUN or block.title:
                    runner.run(block)
        assert settings() == before, f"{page} leaves other settings behind than it found"
    finally:
        for name, value in before.items():
            if settings()[name] != value:
                pc.config.update(name, value)


def names(pages):
    return [str(page.relative_to(ROOT)) for page in pages]


HERE = [page for page in DOCUMENTS if "devices" not in head(page)]


@pytest.mark.parametrize("page", HERE, ids=names(HERE))
def test_the_examples_of_a_page_run(page, tmp_path):
    check(page, tmp_path)


@pytest.mark.parametrize("page", DOCUMENTS, ids=names(DOCUMENTS))
def test_every_block_says_what_it_is(page):
    """A runnable block that does not run is found by its language."""
    for block in blocks(page):
        assert block.language in RUN + SHOWN, f"{page}:{block.line}: a block of {block.language or 'no language'!r}"
        if block.language not in RUN:
            assert ">>> " not in block.text, f"{page}:{block.line}: examples of Python are in blocks of `pycon`"
