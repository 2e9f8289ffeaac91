"""Identifiers, row numbers and groups of tables: what is no feature, what groups the rows, and the notes on it."""

import numpy as np
import pandas as pd
import pytest

from proxembed.data import Columns, read, read_rows
from proxembed.data.large_table import LargeTable
from proxembed.tables.identifiers import identifier_name
from proxembed.workflow.labelled_data import labelled_data

N = 60
IDENTIFIERS = (
    "patient_id",
    "Patient ID",
    "PatientID",
    "patientid",
    "PATIENT",
    "patientNr",
    "Patient No.",
    "id_patient",
    "patients_id",
    "caseID",
    "anon_patient_id",
    "userIDs",
    "customer number",
    "donor",
    "subject",
    "session",
    "movieId",
    "usubjid",
)
OTHERS = (
    "OwnedUsers",
    "users_owned",
    "num_patients",
    "patient_age",
    "PatientCount",
    "account_length",
    "device_type",
    "visitors",
    "paid",
    "grid",
    "key",
    "pain index",
    "covid",
)


def table(seed=0, n=N, **columns):
    rng = np.random.default_rng(seed)
    numbers = {"a": rng.normal(size=n).round(3), "b": rng.normal(size=n).round(3)}
    return pd.DataFrame({**columns, **numbers, "y": np.where(rng.random(n) > 0.5, "u", "v")})


def owners(seed=1, n=N, values=25):
    return np.random.default_rng(seed).integers(0, values, n) + 100


def written(tmp_path, frame, suffix=".csv"):
    path = tmp_path / f"t{suffix}"
    frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path)
    return path


def file_of(tmp_path, frame, suffix=".csv", **columns):
    return read(written(tmp_path, frame, suffix), columns=Columns(labels=("y",), **columns))


def names(data):
    return [name for name in data.feature_names if not name.startswith("kind")]


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_names_of_identifiers(name):
    assert identifier_name(name) == "identifier"


@pytest.mark.parametrize("name", OTHERS)
def test_names_of_anything_else(name):
    assert identifier_name(name) != "identifier"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("cells", [lambda own: own, lambda own: [f"P-{j}" for j in own], lambda own: own * 1.0])
@pytest.mark.parametrize("mixed", [False, True])
def test_an_identifier_groups_the_rows_of_a_file_and_is_no_feature(tmp_path, suffix, cells, mixed):
    own = owners()
    frame = table(**{"Patient ID": cells(own)}, **({"kind": ["red", "blue", "green"] * 20} if mixed else {}))
    data = file_of(tmp_path, frame, suffix)
    assert names(data) == ["a", "b"] and data.source["groups"] == "Patient ID"
    assert len(np.unique(data.groups)) == len(np.unique(own))
    assert len(np.unique(np.column_stack([data.groups, own]), axis=0)) == len(np.unique(own))
    note = next(note for note in data.notes if note.startswith("Patient ID is an identifier"))
    assert "used as groups" in note and "groups=False" in note and "keep='Patient ID'" in note


def test_one_value_in_two_rows_is_enough_and_nine_values_are_not(tmp_path):
    once = file_of(tmp_path, table(patient=[*range(3, N + 2), 3]))
    assert len(np.unique(once.groups)) == N - 1 and names(once) == ["a", "b"]
    few = file_of(tmp_path, table(patient=[j % 9 for j in range(N)]))
    assert few.groups is None and names(few) == ["a", "b"] and "patient looks like groups" in few.notes[0]
    distinct = file_of(tmp_path, table(patient=np.random.default_rng(0).permutation(N) + 5))
    assert distinct.groups is None and names(distinct) == ["a", "b"] and "patient is an id" in distinct.notes[0]


@pytest.mark.parametrize("cells", [["yes", "no"], ["No", "Yes"], ["1", "0"], ["uses", "not"]])
def test_an_answer_under_the_name_of_an_owner_is_a_feature(tmp_path, cells):
    data = file_of(tmp_path, table(volunteer=cells * (N // 2)))
    assert set(names(data)) == {"a", "b", "volunteer"} and data.groups is None and not data.notes


@pytest.mark.parametrize("name", ["rownames", "row.names", "Unnamed: 0", "Unnamed: 0.1"])
@pytest.mark.parametrize("numbers", [False, True])
def test_columns_of_row_names_are_ids(tmp_path, name, numbers):
    frame = table(**{name: [3 * j + 7 if numbers else f"Mazda RX {j} Wag" for j in range(N)]})
    data = file_of(tmp_path, frame)
    assert names(data) == ["a", "b"] and f"{name} is an id (all different) and not a feature" in data.notes[0]
    assert read_rows(tmp_path / "t.csv", data.source)[1][0] == ("7" if numbers else "Mazda RX 0 Wag")


@pytest.mark.parametrize("name", ["Id", "pipe_ID", "InnerID", "Unnamed: 0"])
def test_measurements_are_no_ids(tmp_path, name):
    assert names(file_of(tmp_path, table(**{name: [0.0021 + j / 7 for j in range(N)]}))) == [name, "a", "b"]


def test_two_names_of_persons_are_groups(tmp_path):
    data = file_of(tmp_path, table(customer=["Smith", "Jones"] * (N // 2)))
    assert names(data) == ["a", "b"] and "customer looks like groups" in data.notes[0]


def test_row_names_that_are_dates_are_a_feature(tmp_path):
    days = pd.date_range("2024-01-01", periods=N).astype(str)
    assert file_of(tmp_path, table(rownames=days)).columns[0][1] == "date"


@pytest.mark.parametrize("name", ["zip", "Zip Code", "zipcode", "postcode", "countyFIPS", "product_code"])
def test_whole_numbers_under_the_name_of_codes_are_categories(tmp_path, name):
    codes = [98101 + 7 * (j % 9) for j in range(N)]
    data = file_of(tmp_path, table(**{name: codes}))
    assert data.columns[0] == (name, "code (by its name), 9 values", "98101")
    (tmp_path / "new.csv").write_text(f"{name},a,b\n98108.0,1,2\n,1,2\n")
    X, _ = read_rows(tmp_path / "new.csv", data.source)
    assert X[name].tolist() == ["98108", ""]
    assert file_of(tmp_path, table(**{name: [code + 0.5 for code in codes]})).columns[0][1] == "number"
    assert file_of(tmp_path, table(lines_of_code=codes, k=["u", "v"] * (N // 2))).columns[0][1] == "number"


def test_ids_with_points_and_ranges_of_owners(tmp_path):
    data = file_of(tmp_path, table(id=[f"07{j % 12:02}.{1000 + j}" for j in range(N)], owners=["0-20", "20-50"] * 30))
    assert [words for _, words, _ in data.columns[:2]] == ["id, left out", "category, 2 values"]


def test_codes_whose_end_is_masked_are_no_quantities(tmp_path):
    data = file_of(tmp_path, table(zip_code=[f"{600 + j % 9}xx" for j in range(N)]))
    assert data.columns[0][1] == "code (by its name), 9 values"


def test_counts_under_the_name_of_owners_are_features(tmp_path):
    rng = np.random.default_rng(0)
    for name, counts in {"OwnedUsers": rng.integers(0, 40, N), "visitors": rng.poisson(20, N)}.items():
        data = file_of(tmp_path, table(**{name: counts}))
        assert names(data) == [name, "a", "b"] and data.groups is None and not data.notes
    for counts in ([1 + j % 6 for j in range(N)], [f"D{j % 6}" for j in range(N)]):
        few = file_of(tmp_path, table(devices=counts))
        assert ("devices" in names(few)) == isinstance(counts[0], int), "a few numbers are counts, codes are groups"
    decimals = file_of(tmp_path, table(patient=rng.normal(size=N).round(1)))
    assert names(decimals) == ["patient", "a", "b"] and decimals.groups is None


def test_what_is_asked_for_goes_first(tmp_path):
    frame = table(patient=owners(), ward=owners(2, values=12))
    off = file_of(tmp_path, frame, groups=False)
    assert off.groups is None and names(off) == ["ward", "a", "b"] and "patient is an identifier" in off.notes[0]
    other = file_of(tmp_path, frame, groups="ward")
    assert len(np.unique(other.groups)) == 12 and names(other) == ["a", "b"]
    kept = file_of(tmp_path, frame, keep=("patient", "a"))
    assert kept.groups is None and names(kept) == ["patient", "a"]
    unkept = file_of(tmp_path, frame, keep=("a", "b"))
    assert len(np.unique(unkept.groups)) == len(np.unique(frame.patient)) and names(unkept) == ["a", "b"]
    dropped = file_of(tmp_path, frame, drop=("patient",))
    assert dropped.groups is None and names(dropped) == ["ward", "a", "b"] and not dropped.notes
    named = file_of(tmp_path, frame, id="patient")
    assert named.groups is not None and named.ids[0] == str(frame.patient[0])


def test_of_several_identifiers_the_coarsest_that_contains_the_others_groups_the_rows(tmp_path):
    visit = owners(values=40)
    data = file_of(tmp_path, table(visit_id=visit, patient=visit // 2, scanner_id=owners(3, values=12)))
    assert data.source["groups"] == "patient" or data.source["groups"] == "scanner_id"
    nested = file_of(tmp_path, table(visit_id=visit, patient=visit // 2))
    assert nested.source["groups"] == "patient" and names(nested) == ["a", "b"]
    assert any("groups='visit_id'" in note for note in nested.notes)
    machines = file_of(tmp_path, table(device=owners(3, values=11), patient=owners()))
    assert machines.source["groups"] == "patient"


def test_a_row_without_an_identifier_is_a_group_of_its_own(tmp_path):
    own = pd.Series(owners()).astype("Int64")
    own[[3, 4]] = pd.NA
    data = file_of(tmp_path, table(patient=own, kind=["red", "blue", "green"] * 20))
    assert (data.groups == data.groups[3]).sum() == (data.groups == data.groups[4]).sum() == 1


def test_identifiers_of_a_test_file_continue_those_of_the_training_file(tmp_path):
    frame = table(patient=owners())
    frame[:40].to_csv(tmp_path / "train.csv", index=False)
    frame[40:].to_csv(tmp_path / "test.csv", index=False)
    data = read(tmp_path / "train.csv", test=tmp_path / "test.csv", columns=Columns(labels=("y",)))
    assert names(data) == ["a", "b"] and len(np.unique(data.groups)) == len(np.unique(frame.patient))


@pytest.mark.parametrize("in_y", [False, True])
@pytest.mark.parametrize("mixed", [False, True])
def test_frames_have_the_groups_of_their_files(tmp_path, in_y, mixed):
    frame = table(row=range(N), patient=owners(), **({"kind": ["red", "blue", "green"] * 20} if mixed else {}))
    X, y = frame.drop(columns="y"), frame["y"]

    def data(**options):
        return labelled_data(X, y, **options) if in_y else labelled_data(frame, labels="y", **options)

    found, wanted = data(), file_of(tmp_path, frame)
    assert found.feature_names == wanted.feature_names
    pairs = np.unique(np.column_stack([found.groups, wanted.groups]), axis=0)
    assert len(pairs) == len(np.unique(wanted.groups)) == len(np.unique(found.groups))
    assert any("patient is an identifier" in note for note in found.notes)
    assert any("row holds the row numbers" in note for note in found.notes)
    assert data(groups=False).groups is None and "patient" not in data(groups=False).feature_names
    assert len(np.unique(data(groups=np.arange(N) % 7).groups)) == 7
    assert len(np.unique(data(groups="patient").groups)) == len(np.unique(frame.patient))


def test_a_data_set_and_an_array_take_groups_false(tmp_path):
    data = file_of(tmp_path, table(patient=owners()))
    assert labelled_data(data).groups is not None and labelled_data(data, groups=False).groups is None
    assert labelled_data(data.X, data.Y.toarray(), groups=False).groups is None
    with pytest.raises(ValueError, match="groups='ward' names no column of X"):
        labelled_data(data.X, data.Y.toarray(), groups="ward")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("name", ["Unnamed: 0", "X", "Case", "sample"])
@pytest.mark.parametrize("cells", [range(N), range(1, N + 1), np.arange(1.0, N + 1)])
def test_row_numbers_are_no_feature_whatever_their_name(tmp_path, suffix, name, cells):
    data = file_of(tmp_path, table(**{name: cells}), suffix)
    assert names(data) == ["a", "b"]
    assert data.notes == (
        f"{name} holds the row numbers {int(cells[0])} to {int(cells[-1])} and is not a feature "
        f"(keep={name!r}, beside the other features, makes it one)",
    )
    mixed = file_of(tmp_path, table(**{name: cells}, kind=["red", "blue", "green"] * 20), suffix)
    assert names(mixed) == ["a", "b"] and mixed.notes == data.notes


@pytest.mark.parametrize(
    "cells", [range(2, N + 2), [*range(N - 1), N], range(N, 0, -1), np.arange(N) / 2, [*range(30), *range(30)]]
)
def test_other_numbers_are_features(tmp_path, cells):
    assert names(file_of(tmp_path, table(steps=cells))) == ["steps", "a", "b"]


def test_row_numbers_that_are_kept_that_order_the_rows_or_are_all_there_is(tmp_path):
    frame = table(step=range(N))
    assert names(file_of(tmp_path, frame, keep=("step", "a"))) == ["step", "a"]
    assert file_of(tmp_path, frame, time="step").times[-1] == N - 1
    alone = file_of(tmp_path, frame[["step", "y"]])
    assert alone.feature_names == ("step",) and not alone.notes
    assert labelled_data(frame[["step"]], frame.y).feature_names == ("step",)
    assert names(file_of(tmp_path, table(n=9, step=range(9)))) == ["step", "a", "b"]


def test_row_numbers_are_those_of_the_training_file(tmp_path):
    frame = table(step=[*range(40), *range(20)])
    frame[:40].to_csv(tmp_path / "train.csv", index=False)
    frame[40:].to_csv(tmp_path / "test.csv", index=False)
    data = read(tmp_path / "train.csv", test=tmp_path / "test.csv", columns=Columns(labels=("y",)))
    assert names(data) == ["a", "b"] and len(data.train_idx) == 40


@pytest.mark.parametrize("mixed", [False, True])
def test_new_rows_may_have_what_was_left_out_or_not(tmp_path, mixed):
    """Row numbers and ids that nobody named still name new rows, empty cells among them."""
    kinds = {"kind": ["red", "blue", "green"] * 20} if mixed else {}
    codes = [f"S{j:03d}" for j in range(N)]
    for more, own in (({}, list(map(str, range(N)))), ({"sample_id": codes} if mixed else {}, codes)):
        frame = table(step=range(N), patient=owners(), **more, **kinds)
        data = file_of(tmp_path, frame)
        own = own if more else list(map(str, range(N)))
        for new, expected in ((frame, own), (frame.drop(columns=["step", "patient", "y", *more]), None)):
            X, ids = read_rows(written(tmp_path, new), data.source)
            assert X.shape == data.X.shape and (ids is None if expected is None else list(ids) == expected)
    frame.loc[3, "step"] = None
    frame = frame.drop(columns=list(more))
    data = file_of(tmp_path, table(step=range(N), **kinds))
    assert read_rows(written(tmp_path, frame.assign(step=frame["step"].astype("Int64"))), data.source)[1][3] == ""


@pytest.mark.parametrize("index", [range(N), [f"r{j}" for j in range(N)], range(7, N + 7)])
@pytest.mark.parametrize("mixed", [False, True])
def test_a_first_column_without_a_name_is_row_ids(tmp_path, index, mixed):
    frame = table(**({"kind": ["red", "blue", "green"] * 20} if mixed else {}))
    frame.index = list(index)
    frame.to_csv(tmp_path / "t.csv")
    data = read(tmp_path / "t.csv", columns=Columns(labels=("y",)))
    assert names(data) == ["a", "b"] and data.ids == tuple(map(str, index))
    assert data.notes[0].startswith("the first column has no name: it is read as row ids, Unnamed: 0")
    X, ids = read_rows(tmp_path / "t.csv", data.source)
    assert ids == data.ids and len(X) == N
    assert read_rows(written(tmp_path, frame), data.source)[1] is None


def test_a_first_column_without_a_name_that_is_kept_dropped_or_beside_ids(tmp_path):
    frame = table(doc=[f"d{j}" for j in range(N)])
    frame.to_csv(tmp_path / "t.csv")
    data = read(tmp_path / "t.csv", columns=Columns(labels=("y",), id="doc"))
    assert names(data) == ["a", "b"] and data.ids[0] == "d0"
    assert "the first column has no name and is left out" in data.notes
    kept = read(tmp_path / "t.csv", columns=Columns(labels=("y",), keep=("Unnamed*", "a")))
    assert names(kept) == ["Unnamed: 0", "a"] and kept.ids is None
    assert read(tmp_path / "t.csv", columns=Columns(labels=("y",), drop=("Unnamed*",))).ids is None
    text = (tmp_path / "t.csv").read_text().replace("\n0,", "\n,")
    (tmp_path / "t.csv").write_text(text)
    assert read(tmp_path / "t.csv", columns=Columns(labels=("y",))).ids is None


def test_a_header_that_lacks_the_cell_of_the_row_names(tmp_path):
    lines = ["a\ty", *(f"r{j}\t{j * j % 7}\t{'uv'[j % 2]}" for j in range(N))]
    (tmp_path / "t.tsv").write_text("\n".join(lines) + "\n")
    data = read(tmp_path / "t.tsv", columns=Columns(labels=("y",)))
    assert data.feature_names == ("a",) and data.ids[:2] == ("r0", "r1")
    assert data.X[:3].ravel().tolist() == [0, 1, 4]


def test_a_table_that_is_read_by_parts(tmp_path):
    frame = table(n=200, step=range(1, 201), patient=owners(n=200, values=60))
    for suffix in (".csv", ".parquet"):
        sample = LargeTable(written(tmp_path, frame, suffix), Columns(labels=("y",))).sample(100, 0)
        assert names(sample) == ["a", "b"] and sample.source["groups"] == "patient"
        assert any("step holds the row numbers 1 to 200" in note for note in sample.notes)
    frame.to_csv(tmp_path / "u.csv")
    sample = LargeTable(tmp_path / "u.csv", Columns(labels=("y",))).sample(100, 0)
    assert names(sample) == ["a", "b"] and len(sample.ids) == 100


def ratings(seed=0, films=40, n=400):
    rng = np.random.default_rng(seed)
    film = rng.integers(0, films, n)
    drawn = rng.integers(0, 8, films)
    genres = np.array([";".join(g for j, g in enumerate(("art", "war", "joy")) if each >> j & 1) for each in drawn])
    columns = {"film": film + 17, "user": rng.integers(0, 60, n), "stars": rng.integers(1, 6, n)}
    return pd.DataFrame({**columns, "y": genres[film]})


@pytest.mark.parametrize("cells", [lambda film: film, lambda film: [f"tt{j:04d}" for j in film]])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_values_with_one_label_set_each_are_entities_and_group_the_rows(tmp_path, cells, suffix):
    frame = ratings().drop(columns="user")
    data = file_of(tmp_path, frame.assign(film=cells(frame.film)), suffix)
    assert names(data) == ["stars"] and data.source["groups"] == "film" and len(np.unique(data.groups)) == 40
    assert any("film is an entity" in note and "used as groups" in note for note in data.notes)
    off = file_of(tmp_path, frame, suffix, groups=False)
    assert off.groups is None and names(off) == ["stars"]
    assert "film" in file_of(tmp_path, frame, suffix, keep=("film", "stars")).feature_names


def test_entities_go_before_identifiers_whose_rows_have_several_label_sets(tmp_path):
    data = file_of(tmp_path, ratings())
    assert data.source["groups"] == "film" and names(data) == ["stars"]
    assert any("user is an identifier" in note and "groups='user'" in note for note in data.notes)


@pytest.mark.parametrize("form", ["{} kg", "{}%", "${}", "{}:00", "{},5"])
def test_measurements_that_settle_the_label_are_features(tmp_path, form):
    j = np.random.default_rng(0).integers(1, 23, 200)
    frame = pd.DataFrame(
        {"p": [form.format(each) for each in j], "x": np.arange(200) ** 2 % 13, "y": np.where(j > 11, "u", "v")}
    )
    data = file_of(tmp_path, frame)
    assert names(data) == ["p", "x"] and data.groups is None


def test_what_follows_from_the_groups_is_a_feature(tmp_path):
    frame = ratings().drop(columns="user")
    data = file_of(tmp_path, frame.assign(votes=(frame.film * 7919) % 1009))
    assert names(data) == ["stars", "votes"] and data.source["groups"] == "film"


@pytest.mark.parametrize("kind", ["threshold", "few", "unlikely", "counts", "duplicates", "decimals", "category"])
def test_other_columns_that_settle_the_labels_are_features(tmp_path, kind):
    rng = np.random.default_rng(0)
    n = 400
    score = rng.integers(0, 100, n)
    frame = pd.DataFrame({"a": rng.normal(size=n).round(3), "score": score, "y": np.where(score >= 50, "u", "v")})
    if kind == "few":
        frame["score"] = score % 9
        frame["y"] = np.where(frame.score % 2 == 0, "u", "v")
    elif kind == "unlikely":  # one label nearly everywhere
        frame["y"] = np.where(np.arange(n) < 3, "u", "v")
    elif kind == "counts":
        frame["score"], frame["y"] = rng.poisson(30, n), np.where(rng.random(n) > 0.5, "u", "v")
    elif kind == "duplicates":
        frame["score"], frame["y"] = rng.permutation(10**6)[:n], np.where(rng.random(n) > 0.5, "u", "v")
        frame = pd.concat([frame, frame[:40]])
    elif kind == "decimals":
        frame["score"] = (score * 37 % 100) / 10 + 0.05
    elif kind == "category":
        frame["score"] = np.array(list("abcdefghijkl"))[score % 12]
        frame["y"] = np.where(score % 12 < 6, "u", "v")
    data = file_of(tmp_path, frame)
    assert names(data) == ["a", "score"] and data.groups is None


@pytest.mark.parametrize("mixed", [False, True])
def test_entities_of_frames_beside_their_labels(mixed):
    frame = ratings().assign(**({"kind": ["red", "blue", "green", "grey"] * 100} if mixed else {}))
    X, y = frame.drop(columns="y"), [set(each.split(";")) - {""} for each in frame.y]
    data = labelled_data(X, y)
    assert names(data) == ["stars"] and len(np.unique(data.groups)) == 40
    assert any("film is an entity" in note for note in data.notes)
    assert len(np.unique(labelled_data(X, y, groups="user").groups)) == 60


def test_large_whole_numbers_before_columns_without_names_are_noted(tmp_path):
    """They may be ids, as in breast-cancer-wisconsin.data and wdbc.data."""
    note = "column_1 holds large whole numbers that hardly repeat: leave it out if they are ids (drop='column_1')"
    given = {"header": False, "labels": ("column_3",)}
    for first, noted in (
        (lambda j: 842302 + 977 * j, True),
        (lambda j: 500 + j, False),
        (lambda j: j % 9 * 9999, False),
    ):
        rows = (f"{first(j)},{j % 7}.5,{'uv'[j % 2]}\n" for j in range(N))
        (tmp_path / "t.data").write_text("".join(rows))
        assert (note in read(tmp_path / "t.data", columns=Columns(**given)).notes) is noted
    (tmp_path / "t.data").write_text("".join(f"{842302 + 977 * j},{j % 7}.5,{'uv'[j % 2]}\n" for j in range(N)))
    assert note not in read(tmp_path / "t.data", columns=Columns(**given, drop=("column_1",))).notes
