"""Classes that have moved or changed, and values that have been renamed, since the former formats of saved models."""

# Classes that have moved: old dotted name -> present one.
PRESENT_NAMES = {
    "proxembed.adaptive.embedding_model.EmbeddingModel": "proxembed.methods.adaptive.embedding_model.EmbeddingModel",
    "proxembed.adaptive.switches.Switches": "proxembed.methods.adaptive.switches.Switches",
    "proxembed.base.Prepared": "proxembed.estimator.base.Prepared",
    "proxembed.bayes.bsml.BSML": "proxembed.methods.bayes.bsml.BSML",
    "proxembed.bayes.bssml.BSSML": "proxembed.methods.bayes.bsml.BSSML",
    "proxembed.bayes.precision.TrainingRows": "proxembed.methods.bayes.precision.TrainingRows",
    "proxembed.bayes.probit.VariationalProbit": "proxembed.methods.bayes.probit.VariationalProbit",
    "proxembed.classify.multi_output_ridge.MultiOutputRidge": "proxembed.classify.ridge.MultiOutputRidge",
    "proxembed.defc.any_classifier.AnyClassifier": "proxembed.study.defc.prefixes.AnyClassifier",
    "proxembed.defc.prefix_classifier.PrefixClassifier": "proxembed.study.defc.prefixes.PrefixClassifier",
    "proxembed.defc.prefixes.Discriminants": "proxembed.study.defc.prefixes.Discriminants",
    "proxembed.defc.search.DEFC": "proxembed.study.defc.search.DEFC",
    "proxembed.evaluate.label_scores.LabelScores": "proxembed.evaluate.rivals.linear.LabelScores",
    "proxembed.evaluate.rivals.ForestProximity": "proxembed.evaluate.rivals.forests.ForestProximity",
    "proxembed.evaluate.rivals.NCA": "proxembed.evaluate.rivals.maps.NCA",
    "proxembed.evaluate.rivals.SupervisedUMAP": "proxembed.evaluate.rivals.maps.SupervisedUMAP",
    "proxembed.evaluate.rivals.TSNE": "proxembed.evaluate.rivals.maps.TSNE",
    "proxembed.evaluate.rivals.UMAP": "proxembed.evaluate.rivals.maps.UMAP",
    "proxembed.evaluate.score_rivals.BoostedScores": "proxembed.evaluate.rivals.forests.BoostedScores",
    "proxembed.evaluate.score_rivals.ForestScores": "proxembed.evaluate.rivals.forests.ForestScores",
    "proxembed.evaluate.score_rivals.LogisticScores": "proxembed.evaluate.rivals.linear.LogisticScores",
    "proxembed.evaluate.score_rivals.SVMScores": "proxembed.evaluate.rivals.linear.SVMScores",
    "proxembed.features.blocks.Block": "proxembed.features.scaling.Block",
    "proxembed.methods.class_preserving.DONPP": "proxembed.methods.preserving.DONPP",
    "proxembed.methods.class_preserving.OLPPR": "proxembed.methods.preserving.OLPPR",
    "proxembed.methods.class_preserving.ONPPR": "proxembed.methods.preserving.ONPPR",
    "proxembed.methods.class_preserving.SONPP": "proxembed.methods.preserving.SONPP",
    "proxembed.methods.hypergraph.HSL": "proxembed.methods.dependence.HSL",
    "proxembed.methods.isomap.Isomap": "proxembed.methods.manifold.Isomap",
    "proxembed.methods.label_models.LabelModels": "proxembed.methods.views.LabelModels",
    "proxembed.methods.relation.KernelMap": "proxembed.methods.kernelized.KernelMap",
    "proxembed.methods.relation.Kernelized": "proxembed.methods.kernelized.Kernelized",
    "proxembed.methods.relation.OnKernel": "proxembed.methods.kernelized.OnKernel",
    "proxembed.model.EmbeddingPipeline": "proxembed.methods.pipeline.EmbeddingPipeline",
    "proxembed.proximity.layouts.NeighborMap": "proxembed.features.layouts.NeighborMap",
    "proxembed.seen.SeenRows": "proxembed.estimator.rows.SeenRows",
    "proxembed.transductive.label_weights.Blend": "proxembed.methods.transductive.label_iteration.Blend",
    "proxembed.transductive.propagation.MLGFHF": "proxembed.methods.transductive.propagation.MLGFHF",
    "proxembed.transductive.propagation.MLGRF": "proxembed.methods.transductive.propagation.MLGRF",
    "proxembed.transductive.propagation.MLLGC": "proxembed.methods.transductive.propagation.MLLGC",
    "proxembed.transductive.propagation.SMSE": "proxembed.methods.transductive.propagation.SMSE",
    "proxembed.transductive.ssdr_mc.SSDRMC": "proxembed.methods.transductive.ssdr_mc.SSDRMC",
}

# Values of parameters that have another name: parameter -> old value -> present one.
PRESENT_VALUES: dict[str, dict[str | None, str]] = {"balance": {None: "none"}, "predictive": {"paper": "corrected"}}

# Parts of models whose state has changed in format 9: dotted name -> what they are.
CHANGED_IN = 9
CHANGED = {
    "proxembed.estimator.predicts.ReadOut": "a fit to numbers",
    "proxembed.estimator.sums.Sums": "the sums of a partly fitted estimator",
    "proxembed.sums.Sums": "the sums of a partly fitted estimator",
}
