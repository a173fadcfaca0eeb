"""Right and wrong answers to the exercise of chapter 1."""

import numpy as np
import torch

from tests.exercises.wrong import Wrong

RIGHT = {"1.1": [3, np.int64(3), torch.tensor(3)]}

WRONG = {
    "1.1": [
        Wrong(5, "counts_real_tokens"),
        Wrong(10, "counts_slots"),
        Wrong(8, "counts_predictions"),
        Wrong(2, "counts_sequences"),
        Wrong(4, says="got 4"),
        Wrong(3.0, says="must be a whole number; you gave a float, 3.0"),
        Wrong("3", says="you gave a text, '3'"),
        Wrong(True, says="you gave a truth value"),
        Wrong([3], says="you gave a list"),
        Wrong(lambda: 3, says="you gave a function"),
    ]
}
