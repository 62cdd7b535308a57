// Gives the precompiled header a target of its own; the libraries of dialect/ reuse it.
