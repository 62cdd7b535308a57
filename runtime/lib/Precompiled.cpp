// Gives the precompiled header a separate target; the rooms of the runtime reuse it.
