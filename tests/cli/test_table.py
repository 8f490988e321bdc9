"""`fit`, `predict`, `rules`, `explain` on a table, as a user runs them."""

import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.datasets import load_iris

import neuroplastic as npl
from neuroplastic.cli.main import main
from neuroplastic.learn.columns import Columns, read_table
from neuroplastic.learn.table_model import TableModel


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a table of 50 irises, few enough to be trained on once, and a model fitted to it."""
    folder = tmp_path_factory.mktemp("table")
    iris = load_iris(as_frame=True)
    frame = iris.frame.rename(columns={"target": "species"}).iloc[::3]
    frame["species"] = [str(iris.target_names[k]) for k in frame["species"]]
    frame.loc[6, "sepal width (cm)"] = np.nan
    frame.to_csv(folder / "iris.csv", index=False)
    command = ["fit", str(folder / "iris.csv"), "--target", "species", "--rules", "4", "--folds", "3"]
    assert main([*command, "--out", str(folder / "model")]) == 0
    return folder


def test_fit_writes_a_model_and_one_page_without_links_to_the_network(place):
    page = (place / "model" / "index.html").read_text(encoding="utf-8")
    assert "accuracy" in page
    assert "petal length (cm)" in page
    assert "distinguishability" in page
    assert "active rules" in page
    assert "Do the rules decide?" in page
    assert page.count("data:image/png;base64,") >= 4
    assert 'src="http' not in page
    assert "1 missing values of &#39;sepal width (cm)&#39;" in page


def test_the_saved_model_predicts_well_and_with_probabilities(place, capsys):
    assert (
        main(["predict", str(place / "model"), str(place / "iris.csv"), "--out", str(place / "p.csv")]) == 0
    )
    made = pd.read_csv(place / "p.csv")
    truth = pd.read_csv(place / "iris.csv")["species"]
    assert (made["species"] == truth).mean() > 0.93
    assert np.allclose(made.filter(like="P(").sum(axis=1), 1)
    assert (
        main(["predict", str(place / "model"), str(place / "iris.csv"), "--out", str(place / "p.csv")]) == 2
    )
    assert "not overwritten" in capsys.readouterr().err


def test_force_keeps_a_model_from_other_commands_and_predictions_from_fit(place, tmp_path, capsys):
    model = shutil.copytree(place / "model", tmp_path / "model")
    assert main(["report", "--paper", "--out", str(model), "--force"]) == 2
    assert "columns.json" in capsys.readouterr().err
    assert main(["predict", str(model), str(place / "iris.csv"), "--out", str(model / "p.csv")]) == 0
    assert main(["fit", str(place / "iris.csv"), "--target", "species", "--out", str(model), "--force"]) == 2
    assert "p.csv" in capsys.readouterr().err
    assert (model / "p.csv").exists()


def test_rules_are_printed_and_exported(place, capsys):
    assert main(["rules", str(place / "model")]) == 0
    assert capsys.readouterr().out.count("RULE") == 4
    assert main(["rules", str(place / "model"), "--out", str(place / "rules.json")]) == 0
    assert json.loads((place / "rules.json").read_text())
    assert main(["rules", str(place / "model"), "--out", str(place / "rules.csv")]) == 0
    assert len(pd.read_csv(place / "rules.csv")) == 4
    assert main(["rules", str(place / "model"), "--out", str(place / "rules.pdf")]) == 2
    assert ".txt" in capsys.readouterr().err


def test_rules_are_followed_by_whether_they_decide_as_a_comment(place, capsys):
    model, data = str(place / "model"), str(place / "iris.csv")
    assert main(["rules", model, "--data", data]) == 0
    printed = capsys.readouterr().out
    expected = str(
        TableModel.load(model).estimator.diagnose(TableModel.load(model).columns.rows(read_table(data)))
    )
    comment = [line[2:] for line in printed.splitlines() if line.startswith("# ")]
    assert comment == expected.splitlines()
    assert "On 50 rows" in comment[0]
    assert main(["rules", model]) == 0
    assert capsys.readouterr().out.endswith(
        "\n# Whether the rules decide is told on data: give --data FILE.\n"
    )
    assert main(["rules", model, "--exact"]) == 0
    assert "#" not in capsys.readouterr().out
    for wrong, words in (
        (["--data", data, "--exact"], "--data is for the words below printed rules"),
        (["--data", data, "--out", str(place / "r.txt")], "--data is for the words below printed rules"),
        (["--data", str(place / "no.csv")], "no.csv"),
    ):
        assert main(["rules", model, *wrong]) == 2
        assert words in capsys.readouterr().err


def test_portable_rules_are_written_as_fml(place):
    data, out = str(place / "iris.csv"), str(place / "portable")
    command = ["fit", data, "--target", "species", "--rules", "3", "--folds", "2", "--portable", "--out", out]
    assert main(command) == 0
    assert main(["rules", out, "--out", str(place / "rules.fml")]) == 0
    model = TableModel.load(out)
    rows = model.columns.rows(pd.read_csv(data))
    net = npl.network_of(npl.import_rules(place / "rules.fml"), dtype=torch.float64).eval()
    again = net(torch.from_numpy(model.estimator.encode(rows))).argmax(dim=1).numpy()
    assert (model.estimator.classes_[again] == model.estimator.predict(rows)).all()


def test_a_row_is_explained_and_drawn(place, capsys):
    picture = place / "row.png"
    assert (
        main(
            [
                "explain",
                str(place / "model"),
                str(place / "iris.csv"),
                "--row",
                "20",
                "--picture",
                str(picture),
            ]
        )
        == 0
    )
    assert "versicolor" in capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["explain", str(place / "model"), str(place / "iris.csv"), "--row", "999"]) == 2
    assert "at most 50" in capsys.readouterr().err


def test_a_saved_network_has_rules_too(place, capsys):
    npl.save(npl.NeuroFuzzyNetwork(3, 2, rules=2), place / "net.safetensors")
    assert main(["rules", str(place / "net.safetensors")]) == 0
    assert capsys.readouterr().out.count("RULE") == 2
    assert main(["explain", str(place / "net.safetensors"), str(place / "iris.csv")]) == 2
    assert "as numbers" in capsys.readouterr().err


def test_mistakes_are_one_line(place, capsys):
    data = str(place / "iris.csv")
    for arguments, words in (
        (["fit", data, "--target", "specis", "--out", str(place / "other")], "did you mean 'species'"),
        (["fit", data, "--target", "species", "--out", str(place / "model")], "not overwritten"),
        (["predict", str(place), data], "not a model folder"),
        (["explain", str(place / "model")], "give the FILE"),
    ):
        assert main(arguments) == 2
        assert words in capsys.readouterr().err


def test_predictions_do_not_depend_on_the_other_rows_of_the_file(tmp_path, capsys):
    rows = [f"{code},{k},{'yes' if code == '01' else 'no'}" for k in range(6) for code in ("01", "02", "x")]
    (tmp_path / "all.csv").write_text("\n".join(["code,a,y", *rows]))
    (tmp_path / "some.csv").write_text("\n".join(["code,a,y", *(row for row in rows if row[0] != "x")]))
    columns = Columns.of(read_table(tmp_path / "all.csv"), "y")
    frame = read_table(tmp_path / "all.csv")
    estimator = npl.NeuroFuzzyClassifier(rules=2, max_updates=3, random_state=0)
    estimator.fit(columns.rows(frame), columns.targets(frame))
    TableModel(columns, estimator).save(tmp_path / "m")
    for name in ("all", "some"):
        assert (
            main(
                ["predict", str(tmp_path / "m"), str(tmp_path / f"{name}.csv"), "--out", str(tmp_path / name)]
            )
            == 0
        )
    whole, some = pd.read_csv(tmp_path / "all"), pd.read_csv(tmp_path / "some")
    pd.testing.assert_frame_equal(some, whole[frame["code"] != "x"].reset_index(drop=True))
    capsys.readouterr()
    told = []
    for name in ("all", "some"):
        assert main(["explain", str(tmp_path / "m"), str(tmp_path / f"{name}.csv"), "--row", "1"]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]


def test_a_log_file_gets_a_line_per_fold_and_no_bar_and_in_the_end_whether_the_rules_decide(
    place, tmp_path, capsys
):
    command = ["fit", str(place / "iris.csv"), "--target", "species", "--rules", "3", "--folds", "2"]
    assert main([*command, "--out", str(tmp_path / "m")]) == 0
    printed = capsys.readouterr()
    assert "Do the rules decide? On 50 rows:" in printed.out
    lines = printed.err.splitlines()
    assert [line.partition(",")[0] for line in lines[:2]] == [
        "cross-validation: 1 of 2 folds",
        "cross-validation: 2 of 2 folds",
    ]
    assert re.search(r"accuracy [01]\.\d{3}", lines[0])
    assert lines[-1].startswith("fitting: ")
    assert not any("\r" in line for line in lines)


def test_columns_that_are_refused_name_the_option_that_helps(tmp_path, capsys):
    rows = [f"row {k},{k},{k % 2}" for k in range(60)]
    (tmp_path / "id.csv").write_text("\n".join(["id,x,y", *rows]))
    assert main(["fit", str(tmp_path / "id.csv"), "--target", "y", "--out", str(tmp_path / "m")]) == 2
    assert "leave out with --ignore 'id'" in capsys.readouterr().err
    (tmp_path / "words.csv").write_text("x,y\n" + "\n".join(f"{k},{k}.5" for k in range(60)) + "\n60,many\n")
    for task in ([], ["--task", "number"]):
        command = ["fit", str(tmp_path / "words.csv"), "--target", "y", "--out", str(tmp_path / "m"), *task]
        assert main(command) == 2
        assert "mend the file, or learn classes with --task classes" in capsys.readouterr().err


def test_a_number_that_never_varies_is_no_target(tmp_path, capsys):
    (tmp_path / "same.csv").write_text("y,a\n" + "".join(f"3.25,{k % 7}\n" for k in range(40)))
    asked = ["fit", str(tmp_path / "same.csv"), "--target", "y", "--out", str(tmp_path / "model")]
    assert main(asked) == 2
    assert "the target 'y' is 3.25 in every row: there is nothing to learn" in capsys.readouterr().err


def test_a_number_is_predicted_in_its_own_units(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(50, 10, 58), "b": rng.normal(0, 1, 58)})
    frame["y"] = 1000 + 3 * frame["a"] + rng.normal(0, 1, 58)
    frame.to_csv(tmp_path / "d.csv", index=False)
    command = ["fit", str(tmp_path / "d.csv"), "--target", "y", "--rules", "3", "--folds", "2"]
    assert main([*command, "--out", str(tmp_path / "m")]) == 0
    model = TableModel.load(tmp_path / "m")
    assert "THEN y is" in str(model.estimator.rules_)
    made = model.predict(frame)["y"]
    assert np.corrcoef(made, frame["y"])[0, 1] > 0.98


def test_a_file_of_all_kinds_is_fitted_predicted_and_explained(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": range(58),
            "size": rng.normal(5, 2, 58).round(2),
            "colour": rng.choice(["red", "blue"], 58),
            "seen": [f"2020-01-{day:02d}" for day in rng.integers(1, 29, 58)],
            "planet": "earth",
        }
    )
    frame["y"] = np.where((frame["size"] > 5) ^ (frame["colour"] == "red"), "yes", "no")
    frame.loc[[3, 9], "colour"] = None
    frame.loc[[4], "seen"] = None
    frame.to_csv(tmp_path / "data.csv", index=False)
    data, model = str(tmp_path / "data.csv"), str(tmp_path / "m")
    assert main(["fit", data, "--target", "y", "--rules", "3", "--folds", "2", "--out", model]) == 0
    told = capsys.readouterr()
    assert "58 rows, 5 inputs" in told.out
    assert "note: 2 missing values of 'colour' count as a category of their own, 'missing'." in told.out
    assert "note: 1 missing values of 'seen' were taken as its median, 2020-01-" in told.out
    assert "note: 'planet' has the same value in all rows, so it says nothing." in told.out
    assert "note: 'number' is a whole number that rises from row to row" in told.out
    assert "seen (days) is" in told.out
    assert "neuroplastic:" not in told.err, "what the notes say is not said again by each fold"
    assert main(["predict", model, data]) == 0
    assert capsys.readouterr().err == (
        "neuroplastic: 1 row of 58 unlike those of training: 'seen' is missing in 1 row (taken as "
        f"{frame['seen'].dropna().astype('datetime64[ns]').median().date()})\n"
    )
    new = frame.assign(colour="green", size=[3.0, 99.0] * 29).head(2)
    new.to_csv(tmp_path / "new.csv", index=False)
    assert main(["predict", model, str(tmp_path / "new.csv"), "--notes"]) == 0
    told = capsys.readouterr()
    (first, second) = told.out.splitlines()[1:]
    assert first.endswith(",colour is a category never seen in training")
    assert "size is outside the range of training" in second
    assert told.err.startswith("neuroplastic: 2 rows of 2 unlike those of training: ")
    assert len(told.err.splitlines()) == 1
    assert "'colour' is a category never seen in training in 2 rows ('green')" in told.err
    assert main(["explain", model, data, "--row", "4"]) == 0
    assert "rules fired" in capsys.readouterr().out


def test_readable_rules_are_few_short_and_say_how_many_cases_stand_behind_them(place, tmp_path, capsys):
    command = ["fit", str(place / "iris.csv"), "--target", "species", "--folds", "2", "--no-baselines"]
    limits = ["--readable", "--max-rules", "4", "--max-premises", "2"]
    assert main([*command, *limits, "--out", str(tmp_path / "model")]) == 0
    said = capsys.readouterr().out
    rules = [line for line in said.splitlines() if line.startswith("RULE ")]
    assert 3 <= len(rules) <= 4
    assert all("cases)" in rule and rule.count(" AND ") <= 1 for rule in rules)
    assert (tmp_path / "model" / "index.html").exists()
    assert main(["rules", str(tmp_path / "model")]) == 0
    assert rules[0] in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--max-rules", "3"], "max_rules is a limit of readable models"),
        (["--readable", "--rules", "3"], "use max_rules"),
        (["--readable", "--portable"], "compared by their worst premise"),
    ],
)
def test_limits_without_readable_and_readable_with_what_it_is_not_are_refused(place, words, reason, capsys):
    assert main(["fit", str(place / "iris.csv"), "--target", "species", *words]) == 2
    assert reason in capsys.readouterr().err
