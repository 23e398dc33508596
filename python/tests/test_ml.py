"""Estimators: scikit-learn's own checks, its models as oracles, and data on disk under small limits."""

import json
import pathlib
import pickle
import subprocess
import sys
import warnings

import joblib
import numpy as np
import pytest
import sklearn.cluster
import sklearn.decomposition
import sklearn.exceptions
import sklearn.linear_model
import sklearn.mixture
import sklearn.naive_bayes
import sklearn.preprocessing
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import outcore as oc
from outcore import _outcore, ml

xp = oc.array
# Why the checks of scikit-learn's that fail do so; docs/ml.md has the same.
CHANCE = "k-means|| picks rows by chance of their places, so rows that count twice are not picked as two rows are"
EXPECTED = {
    "KMeans": {
        "check_sample_weight_equivalence_on_dense_data": CHANCE,
    },
}
ESTIMATORS = [
    ml.KMeans(), ml.GaussianMixture(), ml.PCA(), ml.TruncatedSVD(), ml.StandardScaler(), ml.MinMaxScaler(),
    ml.LinearRegression(), ml.Ridge(), ml.LogisticRegression(), ml.GaussianNB(),
]  # fmt: skip


def expected_failures(estimator):
    return EXPECTED.get(type(estimator).__name__, {})


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


RNG = np.random.default_rng(0)
N, P = 1300, 5
# Clusters that overlap a little, far from 0.
NUMBERS = RNG.integers(0, 3, N)
X = RNG.normal(size=(N, P)) @ RNG.normal(size=(P, P)) + 4.0 * RNG.normal(size=(3, P))[NUMBERS] + 100.0
Y = X @ RNG.normal(size=P) + RNG.normal(size=N)
TARGETS = np.stack([Y, X[:, 0] ** 2], axis=1)
BINARY = np.where(Y + 3.0 * Y.std() * RNG.normal(size=N) > np.median(Y), "yes", "no")
WEIGHTS = RNG.random(N) * (RNG.random(N) < 0.9)


def close(left, right, rtol=1e-7, atol=1e-9):
    np.testing.assert_allclose(left, right, rtol=rtol, atol=atol)


@pytest.fixture
def disk(tmp_path):
    """An array as an image on the disk, opened."""
    count = iter(range(100))

    def disk(values):
        return xp.persist(tmp_path / f"{next(count)}.oc", xp.asarray(values))

    return disk


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_kmeans(weights):
    init = X[:4]
    ours = ml.KMeans(4, init=init).fit(X, sample_weight=weights)
    theirs = sklearn.cluster.KMeans(4, init=init, n_init=1, algorithm="lloyd").fit(X, sample_weight=weights)
    close(ours.cluster_centers_, theirs.cluster_centers_)
    close(ours.inertia_, theirs.inertia_)
    assert (ours.labels_ == theirs.labels_).all() and ours.n_iter_ == theirs.n_iter_
    close(ours.transform(X[:9]), theirs.transform(X[:9]))
    close(ours.score(X, sample_weight=weights), theirs.score(X, sample_weight=weights))
    assert list(ours.get_feature_names_out()) == ["kmeans0", "kmeans1", "kmeans2", "kmeans3"]


def test_kmeans_by_chance():
    one, two, other = (ml.KMeans(3, random_state=seed).fit(X) for seed in (1, 1, 2))
    assert one.cluster_centers_.tobytes() == two.cluster_centers_.tobytes() != other.cluster_centers_.tobytes()
    theirs = sklearn.cluster.KMeans(3, n_init=10, random_state=0).fit(X)
    assert ml.KMeans(3, n_init=3, random_state=0).fit(X).inertia_ < 1.001 * theirs.inertia_
    assert (one.labels_ == one.predict(X)).all() and (one.fit_predict(X) == one.labels_).all()
    for wrong in ({"init": "random"}, {"init": X[:2]}, {"n_clusters": 0}, {"n_clusters": N + 1}, {"n_init": 0}, {"max_iter": -1}):
        with pytest.raises(oc.UsageError):
            ml.KMeans(**{"n_clusters": 3} | wrong).fit(X)


PRECISIONS = {"full": np.stack([np.eye(P)] * 3), "tied": np.eye(P), "diag": np.ones((3, P)), "spherical": np.ones(3)}


@pytest.mark.parametrize("kind", PRECISIONS)
def test_gaussian_mixture(kind, disk):
    start = {"weights_init": np.full(3, 1 / 3), "means_init": X[:3], "precisions_init": PRECISIONS[kind]}
    options = {"covariance_type": kind, "max_iter": 40, **start}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = (kind(3, **options).fit(X) for kind in (ml.GaussianMixture, sklearn.mixture.GaussianMixture))
    assert ours.n_iter_ == theirs.n_iter_ and ours.converged_ == theirs.converged_
    for name in "weights_ means_ covariances_ precisions_ precisions_cholesky_ lower_bound_".split():
        close(getattr(ours, name), getattr(theirs, name), 1e-5, 1e-7)
    assert (ours.predict(X) == theirs.predict(X)).all()
    close(ours.predict_proba(X), theirs.predict_proba(X), 1e-5, 1e-7)
    close(ours.score_samples(X), theirs.score_samples(X), 1e-6)
    close([ours.score(X), ours.bic(X), ours.aic(X)], [theirs.score(X), theirs.bic(X), theirs.aic(X)], 1e-6)
    stored = disk(X)
    assert (ours.predict(stored).compute() == ours.predict(X)).all()
    close(float(ours.score(stored)), ours.score(X))
    with pytest.raises(oc.UsageError, match="precisions_init"):
        ml.GaussianMixture(3, means_init=X[:3]).fit(X)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("solver", ["auto", "full"])
@pytest.mark.parametrize("count", [None, 2, 0.9])
def test_pca(count, solver, whiten):
    ours = ml.PCA(count, svd_solver=solver, whiten=whiten).fit(X)
    theirs = sklearn.decomposition.PCA(count, svd_solver="full", whiten=whiten).fit(X)
    names = "components_ explained_variance_ explained_variance_ratio_ singular_values_ mean_ noise_variance_"
    for name in names.split():
        close(np.abs(getattr(ours, name)), np.abs(getattr(theirs, name)))
    assert (ours.n_components_, ours.n_samples_) == (theirs.n_components_, theirs.n_samples_)
    close(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), 1e-6, 1e-7)
    close(ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)))
    with pytest.raises(oc.UsageError, match="n_components"):
        ml.PCA(P + 1).fit(X)


@pytest.mark.parametrize("algorithm", ["auto", "full"])
def test_truncated_svd(algorithm):
    centred = X - 99.0
    ours = ml.TruncatedSVD(3, algorithm=algorithm).fit(centred)
    theirs = sklearn.decomposition.TruncatedSVD(3, algorithm="arpack", random_state=0).fit(centred)
    for name in "components_ explained_variance_ explained_variance_ratio_ singular_values_".split():
        close(np.abs(getattr(ours, name)), np.abs(getattr(theirs, name)))
    close(np.abs(ours.transform(centred)), np.abs(theirs.transform(centred)), 1e-6, 1e-7)
    close(ours.inverse_transform(ours.transform(centred)), theirs.inverse_transform(theirs.transform(centred)))


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("options", [{}, {"with_mean": False}, {"with_std": False}])
def test_standard_scaler(options, weights):
    table = np.concatenate([X, np.full((N, 1), 7.0)], axis=1)
    ours = ml.StandardScaler(**options).fit(table, sample_weight=weights)
    theirs = sklearn.preprocessing.StandardScaler(**options).fit(table, sample_weight=weights)
    close(ours.mean_, theirs.mean_)
    if ours.scale_ is None:
        assert theirs.scale_ is None and ours.var_ is None
    else:
        close(ours.scale_, theirs.scale_), close(ours.var_, theirs.var_)
    close(ours.transform(table), theirs.transform(table))
    close(ours.inverse_transform(ours.transform(table)), table)


@pytest.mark.parametrize("options", [{}, {"feature_range": (-3, 2.5)}, {"feature_range": (-3, 2.5), "clip": True}])
def test_min_max_scaler(options, tmp_path):
    # Constant, without numbers, and with the smallest range that counts.
    columns = [np.full(N, 7.0), np.full(N, np.nan), np.arange(N) % 2 * 10.0 * np.finfo(float).eps]
    table = np.column_stack([X, *columns])
    table[3:40:7, 1] = np.nan
    ours = ml.MinMaxScaler(**options).fit(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = sklearn.preprocessing.MinMaxScaler(**options).fit(table)
    for name in "data_min_ data_max_ data_range_ min_ scale_ n_samples_seen_".split():
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    other = 2.0 * table - 90.0
    close(ours.transform(table), theirs.transform(table)), close(ours.transform(other), theirs.transform(other))
    close(ours.inverse_transform(ours.transform(table)), theirs.inverse_transform(theirs.transform(table)))
    assert type(ours.transform(table)) is type(ours.inverse_transform(table)) is np.ndarray
    np.save(tmp_path / "x.npy", table)
    lazy = ml.MinMaxScaler(**options).fit(tmp_path / "x.npy")
    assert numbers_of(lazy) == numbers_of(ours) and lazy.stats_["passes"] == 1.0
    np.testing.assert_array_equal(lazy.transform(tmp_path / "x.npy").compute(), ours.transform(table))
    for wrong in (np.inf, -np.inf):
        table[5, 2:4] = wrong
        np.save(tmp_path / "x.npy", table)
        with pytest.raises(oc.UsageError, match="found an infinite one in column 2"):
            ml.MinMaxScaler().fit(xp.open(tmp_path / "x.npy"))
    with pytest.raises(oc.UsageError, match="feature_range"):
        ml.MinMaxScaler((1, 1)).fit(X)
    with pytest.raises(oc.UsageError, match="a matrix of 8 columns"):
        ours.inverse_transform(X)
    with pytest.raises(ValueError, match="Expected 2D array"):
        ours.inverse_transform(X[0])
    for rows in (X, xp.asarray(X)):
        with pytest.raises(sklearn.exceptions.NotFittedError):
            ml.MinMaxScaler().transform(rows)
    rounded = X.astype("float32")
    expected = ml.MinMaxScaler(**options).fit(rounded.astype("float64"))
    for rows in (rounded, xp.asarray(rounded)):
        assert numbers_of(ml.MinMaxScaler(**options).fit(rows)) == numbers_of(expected)
        np.testing.assert_array_equal(expected.transform(rows), expected.transform(rounded.astype("float64")))


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name, options", [("LinearRegression", {}), ("Ridge", {"alpha": 30.0})])
@pytest.mark.parametrize("y", [Y, TARGETS], ids=["vector", "matrix"])
def test_linear_models(name, options, intercept, weights, y):
    options = options | {"fit_intercept": intercept}
    ours = getattr(ml, name)(**options).fit(X, y, sample_weight=weights)
    theirs = getattr(sklearn.linear_model, name)(**options).fit(X, y, sample_weight=weights)
    assert np.shape(ours.coef_) == np.shape(theirs.coef_)
    close(ours.coef_, theirs.coef_, 1e-6), close(ours.intercept_, theirs.intercept_, 1e-6)
    close(ours.predict(X), theirs.predict(X))
    close(ours.score(X, y, weights), theirs.score(X, y, weights))


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("y", [BINARY, NUMBERS], ids=["two", "three"])
def test_logistic_regression(y, C, intercept, weights):
    table = X - 100.0
    ours = ml.LogisticRegression(C, tol=1e-10, fit_intercept=intercept).fit(table, y, sample_weight=weights)
    theirs = sklearn.linear_model.LogisticRegression(
        C=C, tol=1e-10, max_iter=10000, solver="newton-cg", fit_intercept=intercept
    ).fit(table, y, sample_weight=weights)
    close(ours.coef_, theirs.coef_, 1e-4, 1e-5), close(ours.intercept_, theirs.intercept_, 1e-4, 1e-5)
    close(ours.predict_proba(table), theirs.predict_proba(table), 1e-3, 1e-5)
    close(ours.decision_function(table), theirs.decision_function(table), 1e-3, 1e-4)
    close(ours.predict_log_proba(table), theirs.predict_log_proba(table), 1e-3, 1e-4)
    assert (ours.predict(table) == theirs.predict(table)).mean() > 0.999
    assert (ours.classes_ == theirs.classes_).all()


@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_gaussian_nb(weights, priors):
    ours = ml.GaussianNB(priors=priors).fit(X, NUMBERS, sample_weight=weights)
    theirs = sklearn.naive_bayes.GaussianNB(priors=priors).fit(X, NUMBERS, sample_weight=weights)
    for name in "class_count_ class_prior_ theta_ var_".split():
        close(getattr(ours, name), getattr(theirs, name))
    close(ours.predict_proba(X), theirs.predict_proba(X), 1e-6)
    close(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), 1e-6)
    assert (ours.predict(X) == theirs.predict(X)).all()


MODELS = {
    "KMeans": lambda **limits: ml.KMeans(3, random_state=0, **limits),
    "GaussianMixture": lambda **limits: ml.GaussianMixture(2, random_state=0, max_iter=4, **limits),
    "PCA": lambda **limits: ml.PCA(2, **limits),
    "TruncatedSVD": lambda **limits: ml.TruncatedSVD(2, **limits),
    "StandardScaler": lambda **limits: ml.StandardScaler(**limits),
    "MinMaxScaler": lambda **limits: ml.MinMaxScaler(**limits),
    "LinearRegression": lambda **limits: ml.LinearRegression(**limits),
    "Ridge": lambda **limits: ml.Ridge(**limits),
    "LogisticRegression": lambda **limits: ml.LogisticRegression(**limits),
    "GaussianNB": lambda **limits: ml.GaussianNB(**limits),
}
METHODS = ["predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "score_samples"]


def numbers_of(model):
    """What a fit found, as bytes."""
    attributes = {name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")}
    kept = {name: value for name, value in attributes.items() if name not in ("stats_", "labels_", "classes_")}
    return {name: np.asarray(value).tobytes() for name, value in kept.items() if value is not None}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_on_disk(name, disk, tmp_path):
    """Images of 31 MB under 24 MiB, with one and two threads: the same bits, and what it is in memory."""
    repeats = 600
    long, labels = np.tile(X, (repeats, 1)), np.tile(NUMBERS, repeats)
    model = MODELS[name](memory="24MiB", threads=1)
    rows, y = disk(long), disk(labels)
    one = clone(model).fit(rows, y)
    two = clone(model).set_params(threads=2).fit(rows, y)
    memory = clone(model).set_params(memory=None, threads=2).fit(long, labels)
    assert numbers_of(one) == numbers_of(two)
    for attribute in numbers_of(one):
        close(getattr(one, attribute), getattr(memory, attribute), 1e-7, 1e-9)
    assert one.stats_["memory_limit_bytes"] == 24 << 20 < long.nbytes <= one.stats_["bytes_read"]
    assert one.n_features_in_ == P
    again = pickle.loads(pickle.dumps(one))
    assert numbers_of(again) == numbers_of(one) and not hasattr(again, "labels_")
    for method in METHODS:
        if hasattr(one, method):
            lazy = getattr(one, method)(rows)
            assert isinstance(lazy, xp.Array)
            expected = getattr(memory, method)(X)
            found = lazy[-N:].compute()
            assert found.dtype == expected.dtype
            close(found, expected, 1e-6, 1e-7)
            assert (getattr(again, method)(X) == getattr(one, method)(X)).all()
    if hasattr(one, "score"):
        lazy, expected = one.score(rows, y), memory.score(long, labels)
        assert isinstance(lazy, xp.Array)
        close(float(lazy), expected)
        if name not in ("KMeans", "GaussianMixture"):
            heavy = np.tile(WEIGHTS, repeats)
            close(float(one.score(rows, y, disk(heavy))), memory.score(long, labels, heavy))
    if name == "KMeans":
        assert isinstance(one.labels_, xp.Array) and (one.labels_.compute() == memory.labels_).all()
    with pytest.raises(oc.UsageError, match="features"):
        getattr(one, "predict" if hasattr(one, "predict") else "transform")(rows[:, :2])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_paths_and_weights(name, disk, tmp_path):
    xp.persist(tmp_path / "x.oc", xp.asarray(X))
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", NUMBERS)
    by_image, by_file = (MODELS[name]().fit(tmp_path / x, str(tmp_path / "y.npy")) for x in ("x.oc", "x.npy"))
    assert numbers_of(by_image) == numbers_of(by_file) == numbers_of(MODELS[name]().fit(X, NUMBERS))
    if name in ("PCA", "TruncatedSVD", "GaussianMixture", "MinMaxScaler"):
        return
    lazy = MODELS[name]().fit(disk(X), NUMBERS, sample_weight=disk(WEIGHTS))
    assert numbers_of(lazy) == numbers_of(MODELS[name]().fit(X, NUMBERS, sample_weight=WEIGHTS))
    with pytest.raises(oc.UsageError, match="sample_weight"):
        MODELS[name]().fit(disk(X), NUMBERS, sample_weight=WEIGHTS[1:])


def test_classes_in_files(disk):
    rows = disk(X)
    for labels in (2 * NUMBERS - 3, (NUMBERS > 0), NUMBERS.astype(np.uint8), NUMBERS + 0.0):
        lazy, memory = ml.GaussianNB().fit(rows, disk(labels)), ml.GaussianNB().fit(X, labels)
        assert (lazy.classes_ == memory.classes_).all() and lazy.classes_.dtype == memory.classes_.dtype
        assert (lazy.predict(rows).compute() == memory.predict(X)).all()
    for wrong in (NUMBERS + 0.5, NUMBERS * 1e9, np.where(NUMBERS == 0, np.nan, 1.0)):
        with pytest.raises(oc.UsageError, match="whole numbers"):
            ml.GaussianNB().fit(rows, disk(wrong))
    words = ml.GaussianNB().fit(rows, BINARY)
    assert isinstance(words.predict_proba(rows), xp.Array)
    with pytest.raises(oc.UsageError, match="classes that are numbers"):
        words.predict(rows)
    with pytest.raises(oc.UsageError, match="finite"):
        ml.LinearRegression().fit(disk(np.where(X.max() - 1e-9 < X, np.nan, X)), Y)


def test_pipelines_and_searches(disk):
    pipeline = make_pipeline(ml.StandardScaler(), ml.PCA(3), ml.LogisticRegression())
    memory = clone(pipeline).fit(X, NUMBERS)
    rows = disk(X)
    lazy = clone(pipeline).fit(rows, NUMBERS)
    close(lazy.predict_proba(rows).compute(), memory.predict_proba(X))
    close(float(lazy.score(rows, NUMBERS)), memory.score(X, NUMBERS))
    search = GridSearchCV(ml.Ridge(), {"alpha": [0.1, 1e6]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"alpha": 0.1}


def test_it_is_imported_when_it_is_asked_for():
    program = "import sys, outcore; assert 'sklearn' not in sys.modules; outcore.ml.KMeans"
    program += "; assert 'sklearn' in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_scores_of_constant_targets_are_scikit_learns(tmp_path):
    rng = np.random.default_rng(5)
    x, path = rng.normal(size=(50, 2)), tmp_path / "x.npy"
    np.save(path, x)
    model = oc.ml.LinearRegression().fit(x, x @ [1.0, 2.0])
    constant = oc.ml.LinearRegression().fit(x, np.full(50, 3.0))
    for fitted, y in ((constant, np.full(50, 3.0)), (model, np.full(50, 3.0)), (model, x @ [1.0, 2.0])):
        expected = fitted.score(x, y)
        assert float(fitted.score(oc.array.open(path), y)) == pytest.approx(expected, abs=1e-12), y[:2]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", sorted(MODELS.keys() - {"MinMaxScaler"}))
def test_rows_with_nan_are_refused_when_they_are_computed(name, disk):
    rows, wrong = disk(X), X.copy()
    model = MODELS[name]().fit(rows, disk(NUMBERS))
    for value in (np.nan, np.inf, -np.inf):
        wrong[700, 2] = value
        for given in (disk(wrong), disk(wrong.astype(np.float32))):
            for method in [*METHODS, "score"]:
                if not hasattr(model, method):
                    continue
                lazy = getattr(model, method)(given, *([NUMBERS] if method == "score" else []))
                with pytest.raises(oc.UsageError, match="finite numbers in rows that a model is applied to"):
                    lazy.compute()
                with pytest.raises(ValueError, match="NaN|infinity"):
                    getattr(model, method)(wrong, *([NUMBERS] if method == "score" else []))
        # Rows beside them are computed.
        method = getattr(model, "predict" if hasattr(model, "predict") else "transform")
        assert (method(disk(wrong)[:700]).compute() == method(rows)[:700].compute()).all()
    whole = disk(np.round(X).astype(np.int32))
    close(method(whole).compute(), method(np.round(X)))


SAVED = """
import json, pickle, sys
import joblib, numpy as np, outcore as oc
folder, models = sys.argv[1], json.loads(sys.argv[2])
for name, methods in models.items():
    own = f"{folder}/{name}"
    for model in (pickle.load(open(f"{own}/model.pickle", "rb")), joblib.load(f"{own}/model.joblib")):
        assert type(model) is getattr(oc.ml, name), model
        for method in methods:
            expected = np.load(f"{own}/{method}.npy")
            for rows in (oc.array.open(f"{folder}/new.oc"), f"{folder}/new.oc", np.load(f"{folder}/new.npy")):
                found = np.asarray(getattr(model, method)(rows))
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=f"{name}.{method}")
print("applied", len(models))
"""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_saved_models_are_applied_in_another_process(disk, tmp_path):
    np.save(tmp_path / "new.npy", X[1000:])
    new, models = xp.persist(tmp_path / "new.oc", xp.asarray(X[1000:])), {}
    for name, kind in MODELS.items():
        own = tmp_path / name
        own.mkdir()
        model = kind(memory="64MiB").fit(disk(X[:1000]), disk(NUMBERS[:1000]))
        models[name] = [method for method in METHODS if hasattr(model, method)]
        for method in models[name]:
            np.save(own / f"{method}.npy", getattr(model, method)(new).compute())
        (own / "model.pickle").write_bytes(pickle.dumps(model))
        joblib.dump(model, own / "model.joblib")
        assert clone(model).get_params() == model.get_params() and not hasattr(clone(model), "n_features_in_")
    # One process for all of them: most of what it does is to import scikit-learn.
    command = [sys.executable, "-c", SAVED, str(tmp_path), json.dumps(models)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == f"applied {len(MODELS)}\n", done.stderr


def test_lazy_parameters_are_copied_and_saved(disk):
    rows = disk(X)
    model = ml.KMeans(3, init=rows[:3]).fit(rows)
    assert numbers_of(clone(model).fit(rows)) == numbers_of(model)
    again = pickle.loads(pickle.dumps(model))
    assert (again.init == X[:3]).all() and numbers_of(again.fit(rows)) == numbers_of(model)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_names_of_columns_are_names_of_features(name, tmp_path):
    names = ["a", "b", "c", "d", "e"]
    rows = xp.persist(tmp_path / "x.oc", xp.asarray(X), names=names)
    model = MODELS[name]()
    assert list(model.fit(rows, NUMBERS).feature_names_in_) == names and model.feature_names_in_.dtype == object
    method = "predict" if hasattr(model, "predict") else "transform"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = getattr(model, method)(rows[:100]).compute()
    for unnamed in (rows + 0.0, X):
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            close(np.asarray(getattr(model, method)(unnamed))[:100], expected)
    with pytest.raises(oc.UsageError, match="feature names should match"):
        getattr(model, method)(rows[["b", "a", "c", "d", "e"]])
    assert not hasattr(model.fit(rows + 0.0, NUMBERS), "feature_names_in_")
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        getattr(model, method)(rows)
    if name.endswith("Scaler"):
        assert list(model.fit(rows).get_feature_names_out()) == names


def test_kmeans_beside_a_row_that_is_far_away():
    X = np.random.default_rng(0).normal(size=(5000, 3))
    for far in (1e6, 1e9, 1e12):
        Y = np.vstack([X, [[far, 0, 0]]])
        model = oc.ml.KMeans(8, init=X[:8], max_iter=300).fit(Y)
        distances = np.sqrt(((Y[:, None, :] - model.cluster_centers_) ** 2).sum(axis=2))
        np.testing.assert_allclose(model.transform(Y), distances, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(model.labels_, distances.argmin(axis=1))
        np.testing.assert_array_equal(model.predict(Y), model.labels_)
        assert model.score(Y) == pytest.approx(-(distances.min(axis=1) ** 2).sum(), rel=1e-9)
        assert model.inertia_ == pytest.approx((distances.min(axis=1) ** 2).sum(), rel=1e-3)


@pytest.mark.parametrize("offset", [0.0, 1.0, 273.15, 1e3, 1e4, 1e6, 1e9])
def test_columns_that_differ_by_a_constant_are_one_direction(offset):
    rng = np.random.default_rng(0)
    t = rng.random(1000)
    x, y = np.column_stack([t, t + offset]), t + rng.normal(size=1000)
    weights = rng.random(1000)
    for given in (None, weights):
        model = ml.LinearRegression().fit(x, y, sample_weight=given)
        expected = sklearn.linear_model.LinearRegression().fit(t[:, None], y, sample_weight=given)
        assert model.rank_ == 1
        np.testing.assert_allclose(model.coef_, [expected.coef_[0] / 2] * 2, rtol=1e-6)
        np.testing.assert_allclose(model.predict(x), expected.predict(t[:, None]), atol=1e-6)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 7.3, 1e6 + 0.1, 1.0, -1e12 / 3])
def test_a_constant_column_has_no_coefficient(value):
    rng = np.random.default_rng(1)
    for count in (20, 508, 5000):
        x, y = np.column_stack([rng.normal(size=count), np.full(count, value)]), rng.normal(size=count)
        model = ml.LinearRegression().fit(x, y)
        assert model.rank_ == 1 and model.coef_[1] == 0
        np.testing.assert_allclose(model.coef_[0], np.polyfit(x[:, 0], y, 1)[0], rtol=1e-8)


def test_rows_less_their_means_have_a_direction_less():
    for seed in range(20):
        for offset in (0, 100, 1e4):
            rng = np.random.default_rng(seed)
            x, y, other = rng.normal(size=(5, 20)) + offset, rng.normal(size=5), rng.normal(size=(3, 20)) + offset
            model = ml.LinearRegression().fit(x, y)
            assert model.rank_ == 4
            expected = sklearn.linear_model.LinearRegression().fit(x, y)
            np.testing.assert_allclose(model.predict(other), expected.predict(other), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8, 1e9])
def test_a_penalty_without_intercept_beside_a_large_offset(offset):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5000, 5)) + offset
    y = (x - offset) @ rng.normal(size=5) + 0.1 * rng.normal(size=5000)
    costs = [
        ((y - x @ model.coef_) ** 2).sum() + (model.coef_**2).sum()
        for model in (
            ml.Ridge(1.0, fit_intercept=False).fit(x, y),
            sklearn.linear_model.Ridge(1.0, fit_intercept=False, solver="svd").fit(x, y),
        )
    ]
    assert costs[0] <= costs[1] * 1.001


def test_columns_of_units_far_apart_are_all_known():
    rng = np.random.default_rng(2)
    units = np.array([1e-9, 1.0, 1e9, 1e-3])
    x, y = rng.normal(size=(2000, 4)), rng.normal(size=2000)
    x[:, 1] += 1e-9 * x[:, 0]
    y += x @ [1, 2, 3, 4]
    model = ml.LinearRegression().fit(x * units, y)
    expected = sklearn.linear_model.LinearRegression(tol=1e-15).fit(x, y)
    assert model.rank_ == 4
    np.testing.assert_allclose(model.coef_ * units, expected.coef_, rtol=1e-8)


def test_one_row_has_all_the_weight():
    x = np.array([[212.85238644641026], [-932.5401918678239], [-347.35516264973813], [534.4530665795392]])
    for weight in (0.3, 1.0, 7.0):
        scaler = ml.StandardScaler().fit(x, sample_weight=[0, weight, 0, 0])
        assert scaler.scale_ == [1] and abs(np.asarray(scaler.transform(x))[1, 0]) < 1e-9


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_logistic_regression_without_intercept_beside_a_large_offset(offset):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 3))
    y = (x @ [1.0, -2, 0.5] + rng.normal(size=2000) * 2 > 0).astype(int)
    model = ml.LogisticRegression(fit_intercept=False).fit(x + offset, y)

    def cost(coefficients):
        margins = (2 * y - 1) * ((x + offset) @ coefficients)
        return np.logaddexp(0, -margins).sum() + 0.5 * (coefficients**2).sum()

    expected = sklearn.linear_model.LogisticRegression(
        fit_intercept=False, solver="newton-cholesky", tol=1e-10, max_iter=1000
    ).fit(x + offset, y)
    assert cost(model.coef_[0]) <= cost(expected.coef_[0]) * (1 + 1e-5)


@pytest.mark.parametrize("solver", ["covariance_eigh", "full"])
def test_whitened_components_that_rounding_explains_are_zero(solver):
    x = RNG.normal(size=(500, 3)) @ RNG.normal(size=(3, 20)) + 1e3
    model = ml.PCA(whiten=True, svd_solver=solver).fit(x)
    z = model.transform(x)
    np.testing.assert_allclose(z[:, :3].var(axis=0, ddof=1), 1.0, rtol=1e-6)
    assert (z[:, 3:] == 0.0).all() and (model.explained_variance_[3:] == 0.0).all()
    close(model.inverse_transform(z), x, 1e-7, 1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_separable_classes_without_a_penalty_are_a_warning(classes):
    labels = np.arange(90) % classes
    x = 9.0 * labels[:, None] + RNG.random((90, 1))
    with pytest.warns(ConvergenceWarning, match="no optimum"):
        ml.LogisticRegression(C=np.inf).fit(x, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ml.LogisticRegression(C=1e3).fit(x, labels)
        ml.LogisticRegression(C=np.inf).fit(x + 20.0 * RNG.normal(size=x.shape), labels)


@pytest.mark.parametrize("ends", [(-(2**63), 2**63 - 1), (0, 2**16), (-(2**62), 2**62)])
def test_classes_too_far_apart_are_refused(ends, tmp_path):
    np.save(tmp_path / "x.npy", X[:10])
    np.save(tmp_path / "y.npy", np.array(ends * 5, dtype=np.int64))
    with pytest.raises(oc.UsageError, match="whole numbers of a range below 65536"):
        ml.GaussianNB().fit(tmp_path / "x.npy", tmp_path / "y.npy")


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_errors_name_the_columns(estimator, tmp_path):
    odd = X[:60].copy()
    odd[7, 2] = np.inf
    x = xp.persist(tmp_path / "x.oc", odd, names=["a", "b", "c", "d", "e"])
    with pytest.raises(oc.UsageError, match="column `c`"):
        clone(estimator).fit(x, xp.asarray(np.arange(60) % 3))
    with pytest.raises(oc.UsageError, match="column 2"):
        clone(estimator).fit(xp.asarray(odd), xp.asarray(np.arange(60) % 3))


def test_a_missing_file_is_no_missing_image(tmp_path):
    for name in ("x.parquet", "x.npy", "x.arrow"):
        with pytest.raises(FileNotFoundError, match=name) as raised:
            ml.KMeans().fit(tmp_path / name)
        assert not isinstance(raised.value, oc.NoImageError)
    with pytest.raises(oc.NoImageError):
        ml.KMeans().fit(tmp_path / "x.oc")


SCALED = [ml.MinMaxScaler(), ml.StandardScaler(), ml.PCA(2), ml.TruncatedSVD(2)]


@pytest.mark.parametrize("model", SCALED, ids=lambda model: type(model).__name__)
def test_rows_of_inverse_transform_are_checked(model):
    with pytest.raises(sklearn.exceptions.NotFittedError):
        clone(model).inverse_transform(X)
    model = clone(model).fit(X)
    z = model.transform(X[:3])
    for number, what in [(np.inf, "infin"), (np.nan, "NaN")]:
        wrong = z.copy()
        wrong[1, 0] = number
        if number != number and isinstance(model, ml.MinMaxScaler):
            assert np.isnan(model.inverse_transform(wrong)).sum() == 1
            assert np.isnan(model.inverse_transform(xp.asarray(wrong)).compute()).sum() == 1
            continue
        with pytest.raises(ValueError, match=what):
            model.inverse_transform(wrong)
        with pytest.raises(oc.UsageError, match="finite numbers"):
            model.inverse_transform(xp.asarray(wrong)).compute()
    with pytest.raises(ValueError, match="Complex data not supported"):
        model.inverse_transform(z + 1j)
    with pytest.raises(ValueError, match="0 sample"):
        model.inverse_transform(z[:0])
    with pytest.raises(oc.UsageError, match="expected a matrix of"):
        model.inverse_transform(z[:, :1])


@pytest.mark.parametrize("clip", [False, True])
def test_min_max_scaler_refuses_infinities_in_files(tmp_path, clip):
    model = ml.MinMaxScaler(clip=clip).fit(X)
    for number in (np.inf, -np.inf):
        wrong = X.copy()
        wrong[7, 2] = number
        np.save(tmp_path / "wrong.npy", wrong)
        with pytest.raises(oc.UsageError, match="expected finite numbers in rows that a model is applied to"):
            model.transform(tmp_path / "wrong.npy").compute()
    missing = X.copy()
    missing[7, 2] = np.nan
    np.save(tmp_path / "missing.npy", missing)
    assert np.array_equal(model.transform(tmp_path / "missing.npy").compute(), model.transform(missing), equal_nan=True)


def test_lazy_results_are_computed_under_the_limits_of_the_estimator(tmp_path):
    numbers = np.random.default_rng(1).normal(size=(400_000, 10))
    np.save(tmp_path / "many.npy", numbers)
    path, few = tmp_path / "many.npy", {"memory": "16MiB", "threads": 1}
    array = xp.open(path, memory="256MiB", threads=2)
    for given, threads in [(path, 1), (array, 1)]:
        for model in (ml.MinMaxScaler(**few), ml.PCA(10, **few)):
            rows = model.fit(given).transform(given)
            assert (rows._runtime.memory, rows._runtime.threads) == (16 << 20, threads)
            with pytest.raises(oc.MemoryLimitError):
                rows.compute()
            with pytest.raises(oc.MemoryLimitError):
                clone(model).set_output(transform="pandas").fit_transform(given)
            assert rows[:5].compute().shape == (5, 10)
        labels = ml.KMeans(2, init=numbers[:2], max_iter=1, **few)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert labels.fit(given).labels_._runtime.memory == 16 << 20
    # Without a limit of the estimator's it is that of the array.
    assert ml.MinMaxScaler().fit(array).transform(array)._runtime.memory == 256 << 20


def test_an_estimator_with_a_limit_has_one_runtime(tmp_path, monkeypatch):
    """The rows in a file, their cache, the targets and the fit draw on one budget."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(500, 3)), rng.integers(0, 3, 500)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    seen = []
    for name in ("kmeans", "pca", "ridge", "logistic_regression", "gaussian_nb", "standard_scaler", "compute_arrays"):
        own = getattr(_outcore, name)

        def noted(*args, own=own, **options):
            # The arrays themselves have the options of opening them.
            seen.extend(given for given in args if isinstance(given, dict) and "runtime" in given)
            return own(*args, **options)

        monkeypatch.setattr(_outcore, name, noted)
        if name == "compute_arrays":
            monkeypatch.setattr("outcore.array._compute.compute_arrays", noted)
    path, target = tmp_path / "x.npy", tmp_path / "y.npy"
    limits = {"memory": "64MiB", "threads": 1}
    for model, given in (
        (ml.KMeans(3, random_state=1, **limits), (path,)), (ml.PCA(2, **limits), (path,)),
        (ml.Ridge(**limits), (path, target)), (ml.LogisticRegression(**limits), (path, target)),
        (ml.GaussianNB(**limits), (path, target)), (ml.StandardScaler(**limits), (path,)),
        (ml.MinMaxScaler(**limits), (xp.open(path),)),
    ):  # fmt: skip
        seen.clear()
        model.fit(*given)
        assert seen and {given["memory"] for given in seen} == {None}, model
        assert len({id(given["runtime"]) for given in seen}) == 1 and seen[0]["runtime"].memory == 64 << 20, model
        assert model.stats_["memory_limit_bytes"] == 64 << 20 and model.stats_["threads"] == 1, model
    # Rows in memory have no runtime: the limit makes one for the fit.
    seen.clear()
    ml.PCA(2, **limits).fit(X)
    assert [given["memory"] for given in seen] == [64 << 20]


def test_all_paths_are_read_within_the_limits_of_the_estimator(tmp_path, monkeypatch):
    names, opened = [tmp_path / name for name in ("x.npy", "y.npy", "w.npy")], []
    for name, numbers in zip(names, (X, NUMBERS, WEIGHTS)):
        np.save(name, numbers)
    own = xp.open

    def noted(*args, **options):
        opened.append(own(*args, **options))
        return opened[-1]

    monkeypatch.setattr(xp, "open", noted)
    few = {"memory": "48MiB", "threads": 1}
    for model in (ml.LinearRegression(**few), ml.LogisticRegression(**few), ml.GaussianNB(**few)):
        # Beside X in a file there is one runtime for all three, in the fit and in the score.
        for run in (model.fit, model.score):
            opened.clear()
            found = run(*names)
            assert len(opened) == 3 and len({id(array._runtime) for array in opened}) == 1, (model, run)
            assert opened[0]._runtime.memory == 48 << 20
        in_files = numbers_of(model), float(found)
        # Beside X in memory, y and weights have the limits of the estimator.
        for run in (model.fit, model.score):
            opened.clear()
            found = run(X, *names[1:])
            assert [array._runtime.memory for array in opened] == [48 << 20] * 2, (model, run)
        assert numbers_of(model) == in_files[0] and model.stats_["memory_limit_bytes"] == 48 << 20
        close(found, in_files[1])


def test_parameters_are_checked_by_name():
    cases = [
        (ml.MinMaxScaler(None), "expected feature_range as two finite numbers in ascending order, found None"),
        (ml.MinMaxScaler((0, 1, 2)), "feature_range"),
        (ml.MinMaxScaler("ab"), "feature_range"),
        (ml.MinMaxScaler((0, np.inf)), "feature_range"),
        (ml.MinMaxScaler((1, 0)), "feature_range"),
        (ml.MinMaxScaler(clip="yes"), "expected clip= as True or False, found 'yes'"),
        (ml.StandardScaler(with_mean=1.5), "with_mean="),
        (ml.PCA("mle"), "n_components='mle' must be between"),
        (ml.PCA(whiten="no"), "whiten="),
        (ml.TruncatedSVD("all"), "n_components="),
        (ml.Ridge(alpha=[1, 2]), r"expected alpha= as a number, found \[1, 2\]"),
        (ml.LinearRegression(fit_intercept="yes"), "fit_intercept="),
        (ml.LogisticRegression(C=0), "expected C above 0, found 0"),
        (ml.LogisticRegression(C="1"), "C="),
        (ml.LogisticRegression(tol=-1), "expected tol from 0 on"),
        (ml.GaussianMixture(reg_covar=-1.0), "expected reg_covar from 0 on"),
        (ml.GaussianMixture(tol="small"), "tol="),
        (ml.GaussianNB(var_smoothing=-1.0), "expected var_smoothing from 0 on"),
        (ml.KMeans(tol=np.nan), "expected tol from 0 on"),
    ]
    for model, expected in cases:
        for given, classes in [(X, NUMBERS), (xp.asarray(X), xp.asarray(NUMBERS))]:
            with pytest.raises((oc.UsageError, TypeError), match=expected):
                model.fit(given, classes)


def test_the_page_names_what_estimators_lack():
    page = (pathlib.Path(__file__).parents[2] / "docs" / "ml.md").read_text()
    shared = next(line for line in page.splitlines() if line.startswith("No estimator has"))
    modules = [
        sklearn.cluster, sklearn.decomposition, sklearn.linear_model, sklearn.mixture, sklearn.naive_bayes,
        sklearn.preprocessing,
    ]  # fmt: skip
    for model in ESTIMATORS:
        name = type(model).__name__
        other = next(getattr(module, name) for module in modules if hasattr(module, name))()
        lacks = set(other.get_params()) - set(model.get_params())
        lacks |= {one for one in dir(other) if not one.startswith(("_", "set_"))} - set(dir(model))
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` | one"))
        unnamed = sorted(one for one in lacks if f"`{one}`" not in row + shared)
        assert not unnamed, (name, unnamed)


def test_initial_parts_of_a_mixture_are_given_together():
    model = ml.GaussianMixture(2, weights_init=np.array([0.5, 0.5]))
    with pytest.raises(oc.UsageError, match="or none of them, found weights_init$"):
        model.fit(np.random.default_rng(1).normal(size=(20, 2)))
