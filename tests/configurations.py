"""Global configurations of scikit-learn under which every result must be that of the default one."""

CONFIGURATIONS = {
    "routing": {"enable_metadata_routing": True},
    "pandas": {"transform_output": "pandas"},
    "polars": {"transform_output": "polars"},
}
DEFAULT = {"enable_metadata_routing": False, "transform_output": "default"}
