"""What every test run shares: one thread, so that numbers repeat; nbval with the semicolon rule."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything imports torch
os.environ.setdefault("PYTHONHASHSEED", "0")
for _name in ("COURSE_GLUE", "COURSE_FIGURES"):  # those belong to the builds
    os.environ.pop(_name, None)

import nbval.kernel  # noqa: E402

# Triton is optional, with an environment of its own: only `make test-triton` collects its tests
_TRITON = ["tests/triton", "course_lib/attention/triton_packed.py"]
collect_ignore = [] if os.environ.get("TRITON_INTERPRET") == "1" else _TRITON


def _execute(self, cell_input, allow_stdin=None):
    """Run a cell with history: without it IPython does not honour a trailing semicolon."""
    return self.kc.execute(
        cell_input, allow_stdin=allow_stdin, store_history=True, stop_on_error=False
    )


nbval.kernel.RunningKernel.execute_cell_input = _execute

try:
    from hypothesis import settings
except ModuleNotFoundError:  # the book's environment runs nbval without the proofs' packages
    pass
else:
    settings.register_profile("course", deadline=None)  # no test may depend on the clock
    settings.load_profile("course")
