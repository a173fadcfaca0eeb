"""Stubs and the library's own functions are known by their code, without running it."""

import functools
import sys
import types

import pytest

from course_lib.exercises.recognise import is_stub, own_function
from course_lib.loss import LossSum
from course_lib.masks import causal_mask, document_mask

OWN = ["masks.document_mask"]


def dots(x):
    """A docstring."""
    ...  # your code here


def passes(x):
    pass


def returns_none(x):
    return None


def returns_dots(x):
    return ...


def raises(x):
    raise NotImplementedError


def raises_with_text(x):
    raise NotImplementedError("write this")


@pytest.mark.parametrize(
    "answer",
    [None, ..., NotImplemented, NotImplementedError, NotImplementedError("x"), dots, passes,
     returns_none, returns_dots, raises, raises_with_text, lambda x: None, lambda: ...,
     functools.partial(dots)],
)  # fmt: skip
def test_stubs(answer):
    assert is_stub(answer)


def forgets_to_return(x):
    y = x + 1  # noqa: F841


def one(x):
    return 1


def word(x):
    return "no"


def raises_value_error(x):
    raise ValueError


def raises_later(x):
    if x:
        raise NotImplementedError
    return x


@pytest.mark.parametrize(
    "answer",
    [0, "", [], False, len, one, word, forgets_to_return, raises_value_error, raises_later,
     lambda x: x, lambda x: "a", int],
)  # fmt: skip
def test_attempts_are_no_stubs(answer):
    assert not is_stub(answer)


def helper(ids):
    return document_mask(ids)


def by_helper(ids):
    return helper(ids)


def made(source):
    """A function that was defined in a module of its own, where nothing else is imported."""
    names = {}
    exec(source, names)
    return names["answer"]


by_module = made(
    "from course_lib import masks\ndef answer(ids): return masks.document_mask(ids)"
)
by_package = made("import course_lib\ndef answer(ids): return course_lib.document_mask(ids)")
by_room = made("import course_lib\ndef answer(ids): return course_lib.masks.document_mask(ids)")
by_name = made("from course_lib.masks import document_mask as d\ndef answer(ids): return d(ids)")
by_import = made(
    "def answer(ids):\n"
    "    from course_lib.masks import document_mask as theirs\n"
    "    return theirs(ids)"
)
by_package_import = made(
    "def answer(ids):\n    import course_lib as c\n    return c.document_mask(ids)"
)
other_module = made("import torch\ndef answer(ids): return torch.document_mask(ids)")
other_import = made("def answer(ids):\n    from nowhere import document_mask as d\n    return d")


def by_inner(ids):
    def inner(row):
        return document_mask(row)

    return [inner(row) for row in ids]


@functools.wraps(document_mask)
def wrapped(ids):
    return None


def closure():
    theirs = document_mask
    return lambda ids: theirs(ids)


class Mine:
    def answer(self, ids):
        return document_mask(ids)


@pytest.mark.parametrize(
    "answer",
    [document_mask, functools.partial(document_mask), functools.cache(document_mask),
     lambda ids: document_mask(ids), by_helper, by_module, by_package, by_room, by_name,
     by_import, by_package_import, by_inner, wrapped, closure(), Mine().answer],
)  # fmt: skip
def test_own_function_is_seen_through(answer):
    assert own_function(answer, OWN) == "course_lib.masks.document_mask"


def copied():
    return types.FunctionType(document_mask.__code__, document_mask.__globals__, "mine")


def test_own_function_under_another_name_is_known_by_its_code():
    assert own_function(copied(), OWN) == "course_lib.masks.document_mask"


def own_name(ids):
    return named_like_theirs(ids)


def named_like_theirs(ids):
    return [own_name, ids]


def uses_another(ids):
    return causal_mask(len(ids))


def unbound():
    if False:
        late = 1  # noqa: F841

    def answer(ids):
        return late

    return answer


@pytest.mark.parametrize(
    "answer",
    [own_name, uses_another, len, 3, None, unbound(), lambda document_mask: document_mask,
     other_module, other_import],
)  # fmt: skip
def test_others_are_left_alone(answer):
    assert own_function(answer, OWN) == ""


def test_classes_are_recognised_too():
    for answer in (LossSum, lambda pairs: LossSum(*pairs)):
        assert own_function(answer, ["loss.LossSum"]) == "course_lib.loss.LossSum"


def test_looking_imports_nothing_and_touches_no_other_module():
    imports = made("def answer(ids):\n    import this\n    return this.s")
    lazy = types.ModuleType("lazy")
    lazy.__getattr__ = lambda name: 1 / 0
    touches = made("lazy = None\ndef answer(ids): return lazy.document_mask(ids)")
    touches.__globals__["lazy"] = lazy
    assert own_function(imports, OWN) == own_function(touches, OWN) == ""
    assert "this" not in sys.modules


def test_nothing_is_own_where_nothing_is_named():
    assert own_function(document_mask, []) == ""
