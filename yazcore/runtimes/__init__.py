"""Where plugin code runs. Two runtimes with one interface (`base`); what reaches pluggy is a facade (`facade`)."""
