"""Labels of conversations: TRL's preparation and the masks of transformers' chat templates."""

from __future__ import annotations

import pytest
import torch
import transformers
import trl
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer
from trl.data_utils import common_prefix_length

from course_lib import common_prefix, encode, mask_turns, pad_documents
from course_lib.vocabulary import TOKENS

TEMPLATE = (
    "{% for m in messages %}"
    "{% if m.role == 'user' %}{{ ' <user> ' + m.content }}"
    "{% else %}{{ ' <assistant>' }}"
    "{% generation %}{{ ' ' + m.content + ' <eos>' }}{% endgeneration %}"
    "{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ ' <assistant>' }}{% endif %}"
)
CHAT = [
    {"role": "user", "content": "a"},
    {"role": "assistant", "content": "b"},
    {"role": "user", "content": "c"},
    {"role": "assistant", "content": "c a"},
]
IDS = encode("<user> a <assistant> b <eos> <user> c <assistant> c a <eos>")
TURNS = [3, 2, 3, 3]


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    """The toy vocabulary, one token a word."""
    words = Tokenizer(WordLevel({t: i for i, t in enumerate(TOKENS)}, unk_token="<pad>"))
    words.pre_tokenizer = WhitespaceSplit()
    made = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>")
    made.chat_template = TEMPLATE
    return made


def ours(which: str = "all") -> list[int]:
    batch = pad_documents([IDS])
    return mask_turns(batch.labels, batch.document_ids, [[TURNS]], which)[0].tolist()


def marks(tokenizer: PreTrainedTokenizerFast) -> dict[str, list[int]]:
    return tokenizer.apply_chat_template(
        CHAT, tokenize=True, return_dict=True, return_assistant_tokens_mask=True
    )


def test_a_template_marks_the_answers_that_mask_turns_keeps(tokenizer):
    found = marks(tokenizer)
    assert list(found["input_ids"]) == IDS
    kept = [t if m else -100 for t, m in zip(IDS, found["assistant_masks"], strict=True)]
    assert kept == ours()


def test_a_template_without_generation_marks_nothing(tokenizer):
    bare = TEMPLATE.replace("{% generation %}", "").replace("{% endgeneration %}", "")
    plain = PreTrainedTokenizerFast(tokenizer_object=tokenizer.backend_tokenizer)
    plain.chat_template = bare
    found = marks(plain)["assistant_masks"]
    assert not any(found), f"transformers {transformers.__version__}: change chapter 11"


def prepared(tokenizer, rows: list[dict], tmp_path, **options) -> list[dict]:
    """What SFTTrainer makes of prompts and completions before it trains."""
    config = LlamaConfig(
        vocab_size=7, hidden_size=8, intermediate_size=8, num_hidden_layers=1,
        num_attention_heads=2,
    )  # fmt: skip
    trainer = SFTTrainer(
        LlamaForCausalLM(config),
        args=SFTConfig(str(tmp_path), report_to="none", use_cpu=True, bf16=False, **options),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    return list(trainer.train_dataset)


def test_trl_arrives_at_the_labels_of_the_last_answer(tokenizer, tmp_path):
    (row,) = prepared(tokenizer, [{"prompt": CHAT[:3], "completion": CHAT[3:]}], tmp_path)
    assert row["input_ids"] == IDS and row["labels"] == ours("last")


def test_trl_arrives_at_the_labels_of_all_answers(tokenizer, tmp_path):
    (row,) = prepared(tokenizer, [{"messages": CHAT}], tmp_path, assistant_only_loss=True)
    assert row["input_ids"] == IDS and row["labels"] == ours()


def test_trl_drops_a_row_that_truncation_leaves_without_a_target(tokenizer, tmp_path):
    long = [{"role": "user", "content": "a b c a b c"}, {"role": "assistant", "content": "a"}]
    rows = [{"prompt": CHAT[:1], "completion": CHAT[1:2]},
            {"prompt": long[:1], "completion": long[1:]}]  # fmt: skip
    kept = prepared(tokenizer, rows, tmp_path, max_length=6)
    assert [row["input_ids"] for row in kept] == [IDS[:5]], f"trl {trl.__version__}: chapter 11"


def test_the_common_prefix_is_that_of_trl():
    draw = torch.Generator().manual_seed(0)
    for _ in range(200):
        a, b = (torch.randint(2, (6,), generator=draw).tolist() for _ in range(2))
        assert common_prefix(a[:5], b) == common_prefix_length(a[:5], b)
