"""Statistics of studies: tests, importances, agreement, clusters. Reads, never writes.

>>> from neuroplastic import analysis
>>> nfn, dnn = analysis.Sample(86.6, 9.24, 25), analysis.Sample(85.40, 9.33, 25)
>>> round(analysis.compare(dnn, nfn).means.statistic, 4)
0.4569
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..errors import MissingPackageError
from ..late_names import late_names

_missing = [package for package in ("scipy", "sklearn", "optuna") if find_spec(package) is None]
if _missing:
    raise MissingPackageError(
        f"neuroplastic.analysis needs scipy, scikit-learn and Optuna (there is no {_missing[0]}); "
        "install them with: pip install 'neuroplastic[study]'"
    )

if TYPE_CHECKING:
    from .agreement import (
        Concordance,
        IntraclassCorrelation,
        icc_1_1,
        icc_3_k,
        kendalls_w,
        ranks,
    )
    from .best import best_trial
    from .clustering import Cluster, clusters, medoid, optics_labels
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

# Where the names are defined. Each waits until it is asked for: scipy and scikit-learn take seconds to import,
# and who wants to know how many trials a study needs wants neither.
_HOMES = {
    ".agreement": "Concordance IntraclassCorrelation icc_1_1 icc_3_k kendalls_w ranks",
    ".best": "best_trial",
    ".clustering": "Cluster clusters medoid optics_labels",
    ".comparison": "Comparison FTest TTest cohens_d compare f_test student_t_test welch_t_test",
    ".dendrogram": "Dendrogram Merge upgma",
    ".errors": "AnalysisError NoVariationError StudyError TableError TooFewError",
    ".gower": "gower_distances",
    ".importance": "EVALUATORS importances leading mean_importances",
    ".samples": "Sample pooled",
    ".studies": "load_studies load_study",
    ".study_table": "Epoch StudyTable TrialRow",
}
__getattr__, __dir__ = late_names(__name__, _HOMES)
