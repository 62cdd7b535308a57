// Gives the precompiled header a separate target; the libraries of dialect/ reuse it.
