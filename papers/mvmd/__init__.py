"""Xu et al. 2016: MVMD beside seven linear methods."""
