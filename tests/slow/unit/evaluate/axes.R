# Rscript axes.R DATA.csv: prints one result a line, a name and numbers, of vegan (redundancy analysis), stats (canonical
# correlations) and pls (partial least squares). DATA: columns x1.., y1.., z (numbers) and level.
suppressMessages({library(vegan); library(pls)})
data <- read.csv(commandArgs(TRUE)[1])
X <- as.matrix(data[grep("^x", names(data))]); Y <- as.matrix(data[grep("^y", names(data))]); z <- data$z
level <- factor(data$level)
n <- nrow(X)
say <- function(name, values) cat(name, format(as.vector(values), digits = 17), "\n")
orders <- t(sapply(1:(n - 1), function(j) (j * (0:(n - 1)) + j * j) %% n + 1))  # permutations, as n is a prime
shares <- function(model) model$CCA$eig / (model$tot.chi - model$pCCA$tot.chi)

alone <- anova(rda(Y ~ X), by = "axis", permutations = orders)
say("alone.statistic", alone$F[1:3])
say("alone.permuted", t(attr(alone, "F.perm")))
partial <- rda(Y ~ X + Condition(z))
tested <- anova(partial, by = "axis", permutations = orders)
say("numbers.statistic", tested$F[1:3])
say("numbers.permuted", t(attr(tested, "F.perm")))
say("numbers.share", shares(partial))
set.seed(1)
say("numbers.p", anova(partial, by = "axis", permutations = 9999)$"Pr(>F)"[1:3])
within <- rda(Y ~ X + Condition(level + z))
tested <- anova(within, by = "axis", permutations = how(nperm = 9999, blocks = level))
say("levels.statistic", tested$F[1:3])
say("levels.p", tested$"Pr(>F)"[1:3])
say("levels.share", shares(within))

Xr <- resid(lm(X ~ z)); Yr <- resid(lm(Y ~ z))
say("canonical.correlations", cancor(Xr, Yr)$cor)
model <- plsr(Yr ~ Xr, ncomp = 3, method = "kernelpls")
say("pls.explained", colSums(Yloadings(model)^2) * colSums(scores(model)^2) / sum(Yr^2))
