"""A small course of its own: two chapters and a lab, with what real ones use."""

from pathlib import Path

import pytest

from tools.sources import ROOT, Course

HEADER = """---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

"""
FIRST = HEADER + """\
(first)=
# First page

See [the second](02_second.md) and {ref}`the rule <rule>`.

```{code-cell} ipython3
from course_lib.prose import glue
glue("mean", 9 / 7, ".3f")
glue("words", "hello there")
print("shown")
```

The mean is {glue:text}`mean`; it says {glue:text}`words`.
"""
SECOND = HEADER + """\
# Second page

(rule)=
## The rule

$$
\\bar\\ell = \\frac{1}{T} \\sum_t \\ell_t
$$
"""
LAB = HEADER + """\
# Lab: count

```{code-cell} ipython3
import os
def double(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
```

```{code-cell} ipython3
### BEGIN SOLUTION
answer = double(21)
### END SOLUTION
print(answer, os.environ.get("COURSE_CHECK"))
```
"""


@pytest.fixture(scope="session")
def course(tmp_path_factory) -> Course:
    root: Path = tmp_path_factory.mktemp("course")
    pages = {"book/01_first": FIRST, "book/02_second": SECOND, "labs/01_lab": LAB}
    for name, text in pages.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / f"{name}.md").write_text(text, "utf8")
    (root / "_config.yml").write_text((ROOT / "_config.yml").read_text("utf8"), "utf8")
    return Course(root)
