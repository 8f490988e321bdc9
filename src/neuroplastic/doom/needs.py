"""What a scenario needs beside the common recipe of a preset: tables that `presets` looks into."""

from __future__ import annotations

from typing import Any

ByScenario = dict[str, dict[str, Any]]
"""options by name, for the scenarios that need some"""

# Brings a scenario's action values to the order of 100. Adam's step is the same at any scale, so small values would be
# moved by a large part of themselves at every update; in most scenarios that cost more than it gained in speed.
REWARD_SCALES = {"BP": 1.0, "BR": 1.0, "PP": 100.0, "HTL": 100.0, "DTC": 100.0, "TC": 0.5, "GH": 0.5}

# Brings rewards to the order of 1: without a target network large values are not followed.
PARALLEL_REWARD_SCALES = {"BP": 0.01, "BR": 0.01, "PP": 1.0, "HTL": 1.0, "DTC": 1.0, "TC": 0.01, "GH": 0.01}

# Price of rules that fire unevenly, where one rule would lead everywhere without it.
PARALLEL_BALANCE = {"GH": 0.01}

# What did better than the common recipe in a scenario, of the changes tried (docs/results.md).
BETTER: ByScenario = {
    "BP": {"exploration_decay": 0.9995},
    "BR": {"reward_scale": 0.01, "loss": "huber", "clip_norm": 10.0, "mirror": False},
    "HTL": {"n_step": 1},
    "DTC": {
        "picture": "paper",
        "frame_skip": 4,
        "learning_rate": 1e-3,
        "batch_size": 64,
        "discount": 0.95,
        "shift_pixels": 1,
        "exploration_decay": 0.999,
    },
    "TC": {"learning_rate": 1e-3, "exploration_decay": 0.999},
    "GH": {"discount": 0.98, "exploration_decay": 0.999},
}

# What rules need beside that.
BETTER_RULES: ByScenario = {"BR": {"estimator": "ste"}, "PP": {"estimator": "ste"}}

# Where an episode takes hundreds of decisions, evaluation would take longer than training.
SELDOM_JUDGED = {"epochs": 2, "steps_per_epoch": 2500, "episodes": 10}

# Where what counts is where things are: a twentieth of the parameters, in two thirds of the time. The best epoch's
# network is kept, and of returns that vary so much 20 tell little.
PLACES = {
    "encoder": "places",
    "learning_rate": 1e-3,
    "batch_size": 32,
    "exploration_decay": 0.999,
    "episodes": 60,
}
PLACES_RULES = {"learning_rate": 1e-2, "structure_rate": 0.1}

# What a scenario needs beside the common recipe of `short`; chosen on seeds 10 to 14 (docs/long.md).
SHORT: ByScenario = {
    "PP": {"discount": 0.99, "n_step": 10},
    "HTL": {"frame_skip": 8, "discount": 0.95, **PLACES},
    "TC": {"frame_skip": 12, **PLACES},
    "GH": {"frame_skip": 12, "discount": 0.98, "n_step": 10, **PLACES, "things": 64},
}

# What rules need beside that.
SLOWER = {"learning_rate": 3e-3, "structure_rate": 0.2}
SHORT_RULES: ByScenario = {
    "BP": SLOWER,
    "PP": {"consequent": "constant"},
    "HTL": {**SLOWER, "structure_rate": 0.4},
    "DTC": SLOWER,
    "TC": PLACES_RULES,
    # Chosen on seeds 30 to 32. Plain networks lost by it on one of two seeds, and on seeds 0 to 3 (docs/long.md).
    "GH": {**PLACES_RULES, "mirror_agreement": 1.0},
}

# What a scenario needs beside the common recipe of `taught`; chosen on seed 10 (docs/long.md).
TAUGHT_SHORT: ByScenario = {
    "PP": {"planes": "motion", "discount": 0.99, "n_step": 10, "taught": 10.0, "episodes": 40},
    "HTL": {"frame_skip": 2, "discount": 0.985, **SELDOM_JUDGED},
    # The script turns to the left alone, so what it advises would contradict itself in a mirror.
    "DTC": {"frame_skip": 3, "mirror": False, **SELDOM_JUDGED},
    # To where one runs already is not seen in one picture.
    "TC": {"planes": "motion", **SELDOM_JUDGED, "episodes": 20},
    "GH": {**SELDOM_JUDGED},
}

# A script plays better than what is found by chance in minutes: most of what is explored is what it would do, and its
# actions are to be preferred at first.
TAUGHT = {
    "advised": True,
    "exploration_advised": 0.7,
    "exploration_start": 0.7,
    "exploration_share": 0.5,
    "taught": 3.0,
    "taught_share": 1.0,
    "epochs": 2,
    "steps_per_epoch": 16_384,
}

# What a scenario needs beside the common recipe of `long`; chosen on seeds 10 and 11 (docs/long.md).
LONG: ByScenario = {
    "BP": {"steps_per_epoch": 16_000, "episodes": 20},
    "BR": {"steps_per_epoch": 24_000, "episodes": 20},
    # The only rocket has to lead the monster. A marksman's shots are hardly found by chance, nor told from waiting by
    # few rewards; the picture shows where the monster goes.
    "PP": {
        "frame_skip": 4,
        "planes": "motion",
        "discount": 0.99,
        "q_lambda": 0.95,
        "rollout": 64,
        "exploration_weights": (1.0, 1.0, 1.0, 1.0, 0.05, 0.05, 0.05, 0.05),
        **TAUGHT,
        "exploration_start": 0.9,
        "exploration_advised": 0.9,
        "exploration_share": 0.7,
        "taught": 10.0,
        "passes": 12,
        "epochs": 4,
        "steps_per_epoch": 24_576,
        "episodes": 40,
    },
    # In 4 tics one turns by more than a far monster is wide. Discount and lambda are about the roots of what they were.
    "HTL": {
        "frame_skip": 2,
        "discount": 0.985,
        "q_lambda": 0.8,
        "exploration_hold": 2,
        **TAUGHT,
        "episodes": 6,
    },
    # The script turns to the left alone, so what it advises would contradict itself in a mirror.
    "DTC": {
        "frame_skip": 2,
        "discount": 0.995,
        "q_lambda": 0.8,
        "exploration_hold": 2,
        "mirror": False,
        **TAUGHT,
        "episodes": 5,
    },
    "TC": {"frame_skip": 12, "steps_per_epoch": 30_000, "episodes": 20},
    "GH": {**TAUGHT, "episodes": 10},
}

# What rules need beside that: to fire evenly, and in PP, where to aim is a formula, more than constants.
LONG_RULES: ByScenario = {
    "PP": {"balance": 0.01, "consequent": "affine", "learning_rate": 1e-3, "structure_rate": 0.5},
    "HTL": {"balance": 0.01},
    "TC": {"balance": 0.01},
}
