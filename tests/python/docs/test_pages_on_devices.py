"""The examples of the pages that need several devices (`devices: 4` at their head)."""

import pytest
from pages import DOCUMENTS, head
from test_pages import check, names

DEVICES = 4

PAGES = [page for page in DOCUMENTS if head(page).get("devices") == DEVICES]


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_the_examples_of_a_page_run(page, tmp_path):
    check(page, tmp_path)


def test_no_page_asks_for_another_number():
    assert {head(page)["devices"] for page in DOCUMENTS if "devices" in head(page)} <= {DEVICES}
