"""Bayesian multi-label methods: embedding and probit classifiers learned together by variational inference."""
