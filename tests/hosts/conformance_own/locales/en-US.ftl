tool = A tool that the conformance suite calls.
resource = A resource that the conformance suite reads.
prompt = A prompt that the conformance suite gets.
permission = Use what the conformance suite needs.
