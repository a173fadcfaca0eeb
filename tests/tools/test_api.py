"""The API page holds every room, in the order of the house, and every name once."""

import re

import pytest

from course_lib.batch import TENSORS
from course_lib.contents import public_names, rooms
from course_lib.exchange import FORMS
from course_lib.packing import pack_documents
from tests.test_house import FLOORS
from tools import api
from tools.sources import Course

PAGE = Course().pages[api.PAGE].text
SECTIONS = re.findall(r"^## (\w+)\n\n```\{api\} (\w+)\n```\n", PAGE, re.M)


def test_every_room_has_its_section_under_its_name():
    assert sorted(room for _, room in SECTIONS) == sorted(rooms())
    assert all(title.lower() == room for title, room in SECTIONS)


def test_the_rooms_stand_in_the_order_of_the_floors():
    floors = [FLOORS[room] for _, room in SECTIONS]
    assert floors == sorted(floors)


@pytest.mark.parametrize("room", rooms())
def test_a_section_asks_for_each_name_once_and_the_notebook_prints_it(room):
    text = api.markdown(room, site=True)
    asked = re.findall(r"^\.\. (?:auto(?:function|class)|py:data):: (\S+)$", text, re.M)
    assert asked == [name.address for name in public_names(room)]
    assert f'\npublic_names("{room}")\n' in PAGE


def test_a_constant_shows_its_value_and_its_text():
    text = api.markdown("vocabulary", site=True)
    assert ".. py:data:: course_lib.IGNORE_INDEX\n   :value: -100\n\n   The label that" in text


def test_a_notebook_gets_a_link_to_the_section():
    text = api.markdown("masks", site=False)
    assert text.startswith("Boolean attention masks") and "autofunction" not in text
    assert f"]({Course().page_url(api.PAGE)}#masks)" in text


def test_a_short_name_that_may_be_something_else_is_linked_nowhere():
    assert {"pack_documents", "document_mask", "check"} <= api.unique()
    assert not {"Report", "Feed", "attention_mask", "attention_weights"} & api.unique()


def test_no_name_of_a_tensor_or_a_form_is_linked():
    row = pack_documents([[1, 2, 3], [1, 1]], 8, eos_id=4, boundary="B")
    fields = {name for form in FORMS for name in row.to_dict(form)}
    assert {"position_ids", "cu_seqlens_q", "loss_mask"} <= fields
    assert not {*TENSORS, *FORMS, *fields} & api.unique()
