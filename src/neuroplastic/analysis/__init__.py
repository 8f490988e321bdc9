"""Statistics of studies: tests, importances, agreement, clusters. Reads, never writes.

>>> from neuroplastic import analysis
>>> nfn, dnn = analysis.Sample(86.6, 9.24, 25), analysis.Sample(85.40, 9.33, 25)
>>> round(analysis.compare(dnn, nfn).means.statistic, 4)
0.4569
"""

from __future__ import annotations

from ..errors import MissingPackageError

try:
    import optuna as _optuna  # noqa: F401
    import scipy as _scipy  # noqa: F401
    import sklearn as _sklearn  # noqa: F401
except ImportError as error:
    raise MissingPackageError(
        f"neuroplastic.analysis needs scipy, scikit-learn and Optuna ({error}); "
        "install them with: pip install 'neuroplastic[study]'"
    ) from error

from .agreement import (
    Concordance,
    IntraclassCorrelation,
    icc_1_1,
    icc_3_k,
    kendalls_w,
    ranks,
)
from .best import best_trial
from .clusters import Cluster, clusters, medoid, optics_labels
from .comparison import (
    Comparison,
    FTest,
    TTest,
    cohens_d,
    compare,
    f_test,
    student_t_test,
    welch_t_test,
)
from .dendrogram import Dendrogram, Merge, upgma
from .errors import AnalysisError, NoVariationError, StudyError, TableError, TooFewError
from .gower import gower_distances
from .importance import EVALUATORS, importances, leading, mean_importances
from .samples import Sample, pooled
from .studies import load_studies, load_study
from .study_table import Epoch, StudyTable, TrialRow

__all__ = [
    "EVALUATORS",
    "AnalysisError",
    "Cluster",
    "Comparison",
    "Concordance",
    "Dendrogram",
    "Epoch",
    "FTest",
    "IntraclassCorrelation",
    "Merge",
    "NoVariationError",
    "Sample",
    "StudyError",
    "StudyTable",
    "TTest",
    "TableError",
    "TooFewError",
    "TrialRow",
    "best_trial",
    "clusters",
    "cohens_d",
    "compare",
    "f_test",
    "gower_distances",
    "icc_1_1",
    "icc_3_k",
    "importances",
    "kendalls_w",
    "leading",
    "load_studies",
    "load_study",
    "mean_importances",
    "medoid",
    "optics_labels",
    "pooled",
    "ranks",
    "student_t_test",
    "upgma",
    "welch_t_test",
]
