"""The order of the examples on their page; an example that is not listed is an error of the build."""

LISTED = (
    # the first nine are large on the front of the gallery
    "are_the_clusters_real.py",
    "tags_on_text.py",
    "images_with_attributes.py",
    "one_class_against_lda.py",
    "pls_users.py",
    "how_many_components.py",
    "single_cells.py",
    "few_labelled_rows.py",
    "compressed_vectors.py",
    "rows_that_belong_together.py",
    "what_a_component_means.py",
    "topics_of_sentences.py",
    "one_class_methods_for_several_labels.py",
    "a_proximity_of_your_own.py",
    "how_sure_is_the_model.py",
    "a_model_assembled_by_search.py",
    "larger_than_memory.py",
)


class Listed:
    """Key by which sphinx-gallery sorts the files of a folder."""

    def __init__(self, folder: str):
        self.folder = folder

    def __call__(self, name: str) -> int:
        return LISTED.index(name)
