text = It comes and goes.
