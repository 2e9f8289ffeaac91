"""The order of the examples on their page; an example that is not listed is an error of the build."""

LISTED = (
    "one_class_against_lda.py",
    "pls_users.py",
    "images_with_attributes.py",
    "tags_on_text.py",
    "are_the_clusters_real.py",
    "rows_that_belong_together.py",
    "how_many_components.py",
    "what_a_component_means.py",
    "compressed_vectors.py",
    "topics_of_sentences.py",
    "few_labelled_rows.py",
    "one_class_methods_for_several_labels.py",
    "a_proximity_of_your_own.py",
    "how_sure_is_the_model.py",
    "a_model_assembled_by_search.py",
    "single_cells.py",
    "larger_than_memory.py",
)


class Listed:
    """Key by which sphinx-gallery sorts the files of a folder."""

    def __init__(self, folder: str):
        self.folder = folder

    def __call__(self, name: str) -> int:
        return LISTED.index(name)
