"""Classes that have moved since the former format of saved models: old dotted name -> present one."""

PRESENT_NAMES: dict[str, str] = {
    "proxembed.evaluate.label_scores.LabelScores": "proxembed.evaluate.rivals.linear.LabelScores",
    "proxembed.evaluate.rivals.ForestProximity": "proxembed.evaluate.rivals.forests.ForestProximity",
    "proxembed.evaluate.rivals.NCA": "proxembed.evaluate.rivals.maps.NCA",
    "proxembed.evaluate.rivals.SupervisedUMAP": "proxembed.evaluate.rivals.maps.SupervisedUMAP",
    "proxembed.evaluate.rivals.TSNE": "proxembed.evaluate.rivals.maps.TSNE",
    "proxembed.evaluate.rivals.UMAP": "proxembed.evaluate.rivals.maps.UMAP",
    "proxembed.evaluate.score_rivals.BoostedScores": "proxembed.evaluate.rivals.boosting.BoostedScores",
    "proxembed.evaluate.score_rivals.ForestScores": "proxembed.evaluate.rivals.forests.ForestScores",
    "proxembed.evaluate.score_rivals.LogisticScores": "proxembed.evaluate.rivals.linear.LogisticScores",
    "proxembed.evaluate.score_rivals.SVMScores": "proxembed.evaluate.rivals.linear.SVMScores",
    "proxembed.seen.SeenRows": "proxembed.rows.SeenRows",
}
