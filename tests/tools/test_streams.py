"""What a cell printed, joined as it was printed."""

from nbformat.v4 import new_output

from tools.course_site.streams import join_streams


def printed(text: str, name: str = "stdout"):
    return new_output("stream", name=name, text=text)


def test_a_line_that_the_kernel_cut_is_whole_again():
    joined = join_streams([printed("labels "), printed("[1, 2]\n"), printed("next\n")])
    assert [o.text for o in joined] == ["labels [1, 2]\nnext\n"]


def test_streams_keep_apart_and_other_outputs_keep_their_place():
    shown = new_output("display_data", data={"text/plain": "a figure"})
    outputs = [printed("a"), shown, printed("!", "stderr"), printed("b\n")]
    joined = join_streams(outputs)
    assert [o.get("text", "figure") for o in joined] == ["ab\n", "figure", "!"]


def test_the_stored_outputs_are_not_written_to():
    outputs = [printed("a"), printed("b")]
    join_streams(outputs)
    assert [o.text for o in outputs] == ["a", "b"]
