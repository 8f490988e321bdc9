"""Progress on a terminal and in a file."""

import io

import pytest

from neuroplastic.cli.progress import Meter, Stages
from neuroplastic.usecases.progress import Headway


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_a_file_gets_a_line_every_half_minute_and_one_at_the_end(clock):
    file = io.StringIO()
    with Meter("training", 100, unit="step", stream=file, clock=clock) as progress:
        for step in range(100):
            clock.now += 1
            progress.show(f"loss {step}")
            progress.update()
    assert file.getvalue().splitlines() == [
        "training: 29 of 100 steps, loss 29",
        "training: 59 of 100 steps, loss 59",
        "training: 89 of 100 steps, loss 89",
        "training: 100 of 100 steps, loss 99",
    ]


def test_steps_that_are_few_get_a_line_each(clock):
    file = io.StringIO()
    with Meter("cross-validation", 3, unit="fold", each=True, stream=file, clock=clock) as progress:
        for _ in range(3):
            progress.show("while a fold is trained")
            progress.show("")
            progress.update()
    assert file.getvalue() == "".join(f"cross-validation: {fold} of 3 folds\n" for fold in (1, 2, 3))


def test_work_that_goes_on_says_where_it_was(clock):
    file = io.StringIO()
    with Meter("training", 10, unit="step", done=9, stream=file, clock=clock) as progress:
        progress.update()
    assert file.getvalue() == "training: 10 of 10 steps\n"


def test_a_line_of_its_own_goes_to_standard_output_and_puts_off_the_next(clock, capsys):
    file = io.StringIO()
    with Meter("training", 10, unit="step", stream=file, clock=clock) as progress:
        clock.now = 20
        progress.write("epoch 1: 3.5")
        clock.now = 40
        progress.update()
        assert file.getvalue() == ""
        clock.now = 51
        progress.update()
    assert capsys.readouterr().out == "epoch 1: 3.5\n"
    assert file.getvalue() == "training: 2 of 10 steps\n"


def test_a_file_never_gets_a_redrawn_bar(clock):
    file = io.StringIO()
    with Meter("training", 5, unit="step", stream=file, clock=clock) as progress:
        progress.update(5)
    assert "\r" not in file.getvalue()
    assert "\x1b" not in file.getvalue()


def test_a_terminal_gets_a_bar_with_figures(capsys):
    screen = Terminal()
    with Meter("training", 5, unit="step", stream=screen) as progress:
        progress.show("loss 0.25")
        progress.update(5)
        progress.write("epoch 1: 3.5")
    shown = screen.getvalue()
    assert "\r" in shown
    assert "training: 100%" in shown
    assert "loss 0.25" in shown
    assert capsys.readouterr().out == "epoch 1: 3.5\n"


def test_every_stage_of_a_use_case_has_progress_of_its_own():
    file = io.StringIO()
    with Stages(stream=file) as stages:
        for fold in (1, 2):
            stages(Headway("cross-validation", fold - 1, 2, "fold", "fitting 20 of 400"))
            stages(Headway("cross-validation", fold, 2, "fold", f"accuracy 0.{fold}"))
        for update in range(20, 81, 20):
            stages(Headway("fitting", update, 80, "update", f"loss {update}"))
    assert file.getvalue().splitlines() == [
        "cross-validation: 1 of 2 folds, accuracy 0.1",
        "cross-validation: 2 of 2 folds, accuracy 0.2",
        "fitting: 80 of 80 updates, loss 80",
    ]
