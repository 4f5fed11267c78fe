"""The ninety-eight rules of the seed, and where each of them is kept.

A rule has one place or several: a *check* (`rules`), a *duty* of the running system (a test proves that it is kept), a
*question* for the reviewer. None has no place.
"""

from __future__ import annotations

import attrs

from yazcore.design_rules.rules import RULES


@attrs.frozen(kw_only=True)
class Place:
    """One rule of the seed.

    * `title`: the rule in our own words.
    * `also`: checks of other rules that keep this one, too.
    * `duties`: tests, as pytest names them in the project's repository, that prove that the running system keeps it.
    * `question`: what is left to a reviewer.
    """

    number: int
    title: str
    also: tuple[str, ...] = ()
    duties: tuple[str, ...] = ()
    question: str = ""

    @property
    def id(self) -> str:
        """`G50`."""
        return f"G{self.number}"

    @property
    def checks(self) -> tuple[str, ...]:
        """The ids of the checks that keep it: its own, and those of other rules."""
        return (*(rule.id for rule in RULES if rule.number == self.number), *self.also)


_FILES = {
    "gate": "tests/test_gate.py",
    "reading": "tests/gate/test_reading.py",
    "duties": "tests/gate/test_duties.py",
    "attacks": "tests/attacks/test_gate.py",
    "audit": "tests/test_audit.py",
    "server": "tests/mcp/test_server.py",
    "http": "tests/mcp/test_http.py",
    "surface": "tests/mcp/test_surface.py",
    "results": "tests/mcp/test_results.py",
    "differences": "tests/test_differences.py",
    "catalogue": "tests/test_catalogue.py",
    "identities": "tests/mcp/test_identities.py",
    "client": "tests/mcp/client/test_service.py",
    "servers": "tests/mcp/client/test_servers.py",
    "embedded": "tests/hosts/test_embedded.py",
    "templates": "tests/test_uri_templates.py",
    "atomic": "tests/capabilities/test_atomic.py",
    "desk": "tests/examples/test_operations_desk.py",
}


def _rule(number: int, title: str, kept: str = "", question: str = "") -> Place:
    """A row: `kept` lists ids of checks, and duties as a file's short name and a test."""
    named = kept.split()
    duties = [one.partition("::") for one in named if "::" in one]
    return Place(
        number=number,
        title=title,
        also=tuple(one for one in named if "::" not in one),
        duties=tuple(f"{_FILES[file]}::{test}" for file, _, test in duties),
        question=question,
    )


PLACES: tuple[Place, ...] = (
    # -- a capability is a view from outside, chosen on purpose
    _rule(1, "What is published is a small view, not a mirror of endpoints, tables or scripts",
          "G2 G90", "Is this a mirror of an API or a command line?"),
    _rule(2, "A capability states its intent in the domain", "", "Does the name say the task to somebody new?"),
    _rule(3, "Dangerous freedom is taken out", "G20",
          "Which argument lets the model lift the tool's own limits, a confirmation that it sets itself among them?"),
    _rule(4, "It is named for the domain, tightly checked and explainable", "G2 G25 G51"),
    _rule(5, "Policy authorises the effect, whatever the text says",
          "gate::test_a_denied_global_tool_names_the_permission "
          "duties::test_a_call_in_perfect_form_without_the_permission_does_not_reach_the_plugin"),
    _rule(6, "Design begins with tasks and limits of abuse; endpoints come after", "G96",
          "Which question is answered, and what is the greatest effect needed?"),
    _rule(7, "Several calls are bundled only as one operation that hides no new decision", "",
          "Does one call take a decision that its user would want to take?"),
    _rule(8, "It grows by shown need", "", "Who needed the newest tool, and for what?"),
    # -- a tool or a resource
    _rule(9, "A tool is picked by the model, a resource by the host", "", "Who starts the reading?"),
    _rule(10, "Reading alone makes no resource: a search is a tool, a known page a resource"),
    _rule(11, "One thing may need both, a resource that shows it and a tool that acts on it", "",
          "Is what looks like a duplicate the reading half and the acting half?"),
    _rule(12, "The two are not merged where consent or flow of data becomes unclear", "",
          "Does giving another optional argument change the effect, or the right that is needed?"),
    _rule(13, "Work that costs or leaves something is a tool; reading has few side effects",
          "reading::test_whatever_is_read_runs_as_read_for_its_caller_for_half_a_minute",
          "Is an opening, connecting or exporting call a reading one?"),
    _rule(14, "An export is a tool whose result is the address of what it made",
          "gate::test_links_and_published_bytes_reach_the_caller "
          "reading::test_an_export_is_read_as_it_is_by_whom_it_was_made_for "
          "desk::test_an_export_gives_a_uri_that_can_be_read"),
    # -- tools are cut by task
    _rule(15, "A tool is one understandable task, may ask several systems, and translates their errors",
          "desk::test_what_a_backend_cannot_tell_is_said_in_words_of_the_desk", "Is it one task to its user?"),
    _rule(16, "No raw steps that rebuild today's orchestration", "", "Is this a mirror of an API's steps?"),
    _rule(17, "Task and result are named"),
    _rule(18, "What must be atomic stays together",
          "atomic::test_where_it_fails_the_old_file_is_whole_and_nothing_is_left "
          "desk::test_a_restart_that_fails_half_way_leaves_nothing_half_done"),
    _rule(19, "Steps are apart where consent or news is needed between them", "",
          "Is there a point within one call at which a person would want to be asked?"),
    _rule(20, "No universal pass-through", "G90", "What could be reached through the freest argument?"),
    _rule(21, "No tool that searches, makes or deletes by which fields are given", "G12",
          "Without a switch: does another optional field change the effect?"),
    _rule(22, "Tools apart can have their own rights, texts and approvals"),
    _rule(23, "The cut is where a decision, a permission or an effect of its own begins", "",
          "Would somebody allow one half and not the other?"),
    _rule(24, "The host picks the tools that fit the task",
          "gate::test_a_tool_outside_the_allow_list_is_answered_like_an_unknown_one "
          "gate::test_read_only_hides_and_refuses_what_writes server::test_a_principal_sees_what_its_allow_list_has"),
    # -- name, description and schema
    _rule(25, "Name, description and a valid input schema are there"),
    _rule(26, "The name is stable, and one of its kind on the server", "G31",
          "Would the name still fit if the backend were another?"),
    _rule(27, "The description says when, what effect, what exclusions, what result", "",
          "Is what the text leaves out really needed to choose?"),
    _rule(28, "The schema says arguments, required ones, types and ranges"),
    _rule(29, "An output schema is a form that can be checked"),
    _rule(30, "No field stands in for another: a closed schema does not mend a name, nor a name an open schema",
          "G2 G3 G20 G51"),
    _rule(31, "Names are short, case-sensitive, and one of their kind",
          "gate::test_an_unknown_tool_is_a_protocol_fault "
          "catalogue::test_names_that_differ_only_in_case_and_dashes_are_one_name"),
    _rule(32, "A name that a server gives itself is no identity",
          "catalogue::test_plugins_that_give_themselves_one_name_stay_apart "
          "servers::test_servers_that_give_themselves_one_name_stay_apart"),
    _rule(33, "Descriptions are reviewed, for they steer the model", "",
          "Does a text give orders to the model, advertise, or carry data of the host?"),
    _rule(34, "Descriptions are no policy: each argument is checked, each operation authorised",
          "duties::test_a_call_in_perfect_form_without_the_permission_does_not_reach_the_plugin "
          "gate::test_arguments_outside_the_schema_are_refused_with_field_and_bound_before_the_plugin_runs"),
    _rule(35, "Neighbours are told apart, by what each is for and is not for", "G37b",
          "Would two people pick the same tool of this pair for three requests?"),
    _rule(36, "A paraphrase of the name is not enough"),
    _rule(37, "A draft says that nothing is sent; what sends names effect and approval", "",
          "Does the effect leave the system or reach people, and who approves it?"),
    _rule(38, "Values, forms and bounds stand in the schema", "",
          "Which combinations of arguments are refused, and does the schema say so?"),
    _rule(39, "What a field means is not a regular expression alone"),
    _rule(40, "Name, text and schema agree", "", "Do two texts contradict each other in meaning?"),
    # -- results, errors and hints are not trusted
    _rule(41, "A structured result fits its schema",
          "gate::test_a_result_that_breaks_its_output_schema_is_masked servers::test_every_other_end_has_its_code"),
    _rule(42, "Structure is no proof of truth: a result is input from outside",
          "duties::test_a_result_that_gives_orders_is_data_and_calls_nothing"),
    _rule(43, "An unknown method or a malformed request is a protocol error",
          "http::test_an_unknown_method http::test_what_is_no_request_is_refused "
          "gate::test_an_unknown_tool_is_a_protocol_fault"),
    _rule(44, "What the domain refuses is a result that says so",
          "server::test_what_a_plugin_refuses_can_be_read "
          "server::test_wrong_arguments_are_a_result_that_says_what_is_wrong"),
    _rule(45, "Errors have a form that the model can use",
          "gate::test_arguments_outside_the_schema_are_refused_with_field_and_bound_before_the_plugin_runs",
          "Does each refusal say what would be accepted?"),
    _rule(46, "A client does not trust annotations",
          "client::test_what_a_server_says_of_its_own_tool_changes_no_posture"),
    _rule(47, "Hints are never an authorisation",
          "duties::test_no_hint_changes_any_decision "
          "duties::test_the_tools_that_are_held_against_each_other_are_shown_with_different_hints"),
    _rule(48, "A tool does not classify its own danger bindingly",
          "differences::test_a_hint_that_contradicts_the_posture_is_a_difference"),
    _rule(49, "Without parameters, too, the input is an object"),
    _rule(50, "Without parameters the object is closed",
          "duties::test_a_tool_without_parameters_takes_none"),
    _rule(51, "What holds by default in a schema is decided, not left open"),
    _rule(52, "Structured results are given as text, too",
          "gate::test_a_call_reaches_the_plugin_and_gives_structure_and_the_same_as_text "
          "results::test_a_structured_result_is_given_as_text_too"),
    # -- URIs are identities
    _rule(53, "A URI names a thing and does not leak where it is kept", "",
          "Is a path or a number the identity in this domain?"),
    _rule(54, "The URI stays whatever the backend is",
          "desk::test_the_same_uri_names_the_same_thing_in_another_backend"),
    _rule(55, "What has parameters is a template"),
    _rule(56, "What reading gives is documented"),
    _rule(57, "Variables are seen and can be completed",
          "reading::test_the_declared_values_of_a_variable_are_proposed_without_asking_the_plugin",
          "Where does a host learn the values that are valid?"),
    _rule(58, "A media type is only metadata",
          "duties::test_a_media_type_is_a_label_and_changes_nothing_of_what_is_read"),
    _rule(59, "Each URI is authorised, whatever its form",
          "gate::test_unknown_and_forbidden_resources_differ_only_in_the_requests_own_uri"),
    _rule(60, "https is no scheme just because content comes from the web"),
    _rule(61, "URIs are keys of the contract; how content is loaded is the server's own business", "",
          "Could the content be loaded another way tomorrow under the same URI?"),
    _rule(62, "A URI means the current version only where that is documented", "",
          "Does the text say whether a URI means the current state or one that stays?"),
    _rule(63, "A version that an audit needs has an identity of its own",
          "reading::test_an_export_has_an_address_of_its_own_and_the_same_bytes_each_time"),
    _rule(64, "Meaning does not follow from a path that nobody outside knows"),
    _rule(65, "Gone and not found are planned cases", "attacks::test_an_address_that_names_nothing_is_not_there",
          "What does a reader see of a thing that was deleted?"),
    _rule(66, "Unknown and forbidden reveal nothing, and are answered alike",
          "gate::test_unknown_and_forbidden_resources_differ_only_in_the_requests_own_uri "
          "gate::test_denied_and_unresolved_ids_give_one_answer_that_names_nothing "
          "attacks::test_another_project_and_none_are_the_same_to_a_resource"),
    # -- templates are no policy
    _rule(67, "The resolved URI is authorised for this request",
          "attacks::test_another_project_and_none_are_the_same_to_a_resource"),
    _rule(68, "Lists and reads say how long and for whom they may be kept",
          "server::test_lists_and_reads_say_how_long_and_for_whom_they_may_be_kept"),
    _rule(69, "Public is only what may really be shared",
          "duties::test_what_differs_between_callers_is_never_called_public", "May everybody read it?"),
    _rule(70, "What differs between tenants is private",
          "duties::test_what_differs_between_callers_is_never_called_public"),
    _rule(71, "A time to live is no permission",
          "identities::test_what_may_still_be_kept_is_read_no_more_once_the_right_or_the_token_is_gone"),
    _rule(72, "Values are documented, and checked after expansion",
          "G57 templates::test_a_uri_that_is_no_expansion_is_no_match "
          "attacks::test_an_address_that_names_nothing_is_not_there"),
    _rule(73, "A proposal is no whole list and no permission",
          "gate::test_completion_proposes_only_what_may_be_read "
          "embedded::test_ids_are_completed_for_whoever_may_see_them"),
    _rule(74, "A tenant that was proposed is not thereby allowed",
          "embedded::test_an_id_that_was_proposed_is_not_thereby_allowed"),
    _rule(75, "A well-formed URI says nothing about who asks",
          "duties::test_one_uri_is_decided_for_each_caller_by_itself "
          "gate::test_identities_are_not_mixed_between_concurrent_calls"),
    _rule(76, "Form, existence and permission are three checks, with one answer where existence is secret",
          "gate::test_a_malformed_id_is_refused_before_any_permission "
          "gate::test_denied_and_unresolved_ids_give_one_answer_that_names_nothing"),
    # -- the size of an answer
    _rule(77, "Size, pages, filters and summary are decisions of design", "",
          "Is the result small by nature?"),
    _rule(78, "Filters and bounded hits instead of everything",
          "duties::test_a_limit_above_the_largest_is_refused_and_not_lowered"),
    _rule(79, "Large context is referred to, not carried",
          "gate::test_links_and_published_bytes_reach_the_caller", "Would a link do where the whole is given?"),
    _rule(80, "A schema for programs, a short text for the model",
          "server::test_words_and_links_of_a_result_arrive results::test_the_text_that_the_gate_gives_is_kept"),
    _rule(81, "What is cut says so",
          "gate::test_a_result_over_the_budget_is_not_cut_but_kept_in_pages_for_its_caller"),
    _rule(82, "The limit follows from the task: overview first, detail on demand", "",
          "Does the first answer hold what most readers stop at?"),
    _rule(83, "No limit of characters splits what belongs together",
          "gate::test_a_result_over_the_budget_is_not_cut_but_kept_in_pages_for_its_caller"),
    _rule(84, "There is a way to select and to load more",
          "surface::test_pages_together_are_the_list desk::test_pages_together_are_every_ticket_once"),
    _rule(85, "Limits are enforced",
          "gate::test_a_result_over_the_budget_is_not_cut_but_kept_in_pages_for_its_caller "
          "duties::test_a_limit_above_the_largest_is_refused_and_not_lowered"),
    _rule(86, "They bound the work before it is done",
          "desk::test_a_page_reads_no_more_rows_than_it_needs"),
    _rule(87, "What is embedded counts", "attacks::test_links_count_against_what_a_result_may_hold"),
    # -- a wrapper answers for what it wraps
    _rule(88, "Ids, accounts, transactions and errors of the backend are not passed on",
          "server::test_a_crash_is_masked gate::test_a_tool_error_is_the_only_text_that_leaves"),
    _rule(89, "It translates one operation, checks, binds identity, limits effect, normalises errors",
          "desk::test_what_a_backend_cannot_tell_is_said_in_words_of_the_desk "
          "desk::test_a_restart_names_who_asked_for_it", "What of the backend would a caller notice?"),
    _rule(90, "No generic call of an old API", "G20"),
    _rule(91, "Technical accounts are as narrow as what is published", "",
          "What could the account do that no tool does?"),
    _rule(92, "Rights downstream are separate by kind of task", "", "Does reading use an account that can write?"),
    _rule(93, "References to objects and tenants are checked on the server",
          "gate::test_denied_and_unresolved_ids_give_one_answer_that_names_nothing"),
    _rule(94, "The log has the operation, not only the endpoint",
          "audit::test_a_record_says_when_who_what_where_and_how_it_ended "
          "gate::test_every_call_leaves_exactly_one_record"),
    # -- review
    _rule(95, "Nine decisions are reviewed", "", "The nine decisions of review.toml."),
    _rule(96, "Four questions are answered", "", "The four questions of review.toml."),
    _rule(97, "Each way is judged by its price, and no price speaks for a universal surface", "",
          "What does the narrow way cost here, and who pays for the wide one?"),
    _rule(98, "What is simple only because checks moved to model and user is refused",
          "gate::test_arguments_outside_the_schema_are_refused_with_field_and_bound_before_the_plugin_runs "
          "gate::test_a_denied_global_tool_names_the_permission",
          "Does anything rely on the model being careful?"),
)  # fmt: skip
"""The rules in their order."""
