"""Mu et al. 2012 (TPAMI): MESD and MOPE on Reuters."""
