"""Every attack that runs in a plugin's tool, by family, and what is expected in each runtime.

Reasons are what the plugin saw: the kernel's error (`EACCES` by Landlock, `EPERM` and `ENOSYS` by seccomp), the kind
and reason of the broker, a service's code, an exception's name. `no harm`: it went on, and nothing came of it;
`overdue`: the caller was answered at the deadline, and in a worker nothing went on; `worker ended`: why the host ended
it. Where it depends on who is faster, both are named.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from typing import Literal, cast

import attrs

from tests.attacks.beyond.attack import NO_WIRE, OPEN, Attack

FILES, NET, PROCESS = "fs-project out-of-scope", "net out-of-scope", "process out-of-scope"
NO_HARM = "no harm"
ENDED = "worker ended: "
OVERDUE_OR_GONE = f"overdue | {ENDED}it ended with signal SIGKILL"
WRONG = "its worker said something wrong while it was started"
OVERDUE_OR_DEAF = f"overdue | {ENDED}it does not read what it is sent"

RESIDUE: Mapping[str, str] = {
    "stat_outside": "that a file exists, its size and its times can be seen: the kernel does not keep that",
    "many_files": "files in the data folder are counted when the host adds something and when the plugin starts",
    "more_than_the_quota": "the quota is looked at when the host adds something and when the plugin starts",
    "a_secret_that_comes_while_a_command_runs": "a command reads what comes into an open folder while it runs",
    "see_the_credential_in_other_letters": "a granted server that repeats the secret in another form gives it away",
    "damage_inside_the_grant": "what is granted can be spoiled",
    "the_widest_of_its_open_calls": "a worker that lies gets at most the widest of its calls that are open at a time",
}
"""The attacks that work in a worker, and why; `docs/security.md` says the same. Everything else has to fail."""


@attrs.frozen
class _Row:
    name: str
    proof: str
    trusted: str
    isolated: str
    spoils: bool = False
    needs: bool = False


_FAMILIES: Mapping[str, tuple[_Row, ...]] = {
    "files": (
        _Row("read_outside", "says", FILES, "EACCES"),
        _Row("read_by_descriptor", "says", FILES, "EACCES"),
        _Row("read_through_dotdot", "says", FILES, "EACCES"),
        _Row("read_relative_to_a_folder", "says", OPEN, "EACCES"),
        _Row("write_outside", "world", FILES, "EACCES"),
        _Row("append_outside", "world", FILES, "EACCES"),
        _Row("make_outside", "world", FILES, "EACCES"),
        _Row("remove_outside", "world", FILES, "EACCES"),
        _Row("rename_outside", "world", FILES, "EACCES"),
        _Row("shorten_outside", "world", FILES, "EACCES"),
        _Row("chmod_outside", "world", FILES, "EPERM"),
        _Row("chown_outside", "world", FILES, "EPERM"),
        _Row("utime_outside", "world", FILES, "EPERM"),
        _Row("attribute_outside", "world", FILES, "EPERM"),
        _Row("list_outside", "did", FILES, "EACCES"),
        _Row("scan_outside", "did", FILES, "EACCES"),
        _Row("stat_outside", "did", OPEN, OPEN),
        _Row("read_with_sqlite", "says", OPEN, "OperationalError"),
        _Row("write_with_sqlite", "world", OPEN, "OperationalError"),
        _Row("read_with_readline", "says", OPEN, "EACCES"),
        _Row("make_a_device", "did", OPEN, "EPERM", needs=True),
    ),
    "what belongs to others": (
        _Row("read_own_grant", "says", FILES, "EACCES"),
        _Row("write_own_grant", "world", FILES, "EACCES"),
        _Row("read_the_token", "says", FILES, "EACCES"),
        _Row("read_another_plugins_data", "says", FILES, "EACCES"),
        _Row("change_the_hosts_code", "did", FILES, "EACCES"),
        _Row("change_own_code", "did", FILES, "EACCES"),
        _Row("leave_a_startup_file", "world", FILES, "EACCES"),
    ),
    "the project, past the services": (
        _Row("read_the_project_itself", "says", FILES, "EACCES"),
        _Row("plant_a_git_hook_itself", "world", FILES, "EACCES"),
    ),
    "links": (
        _Row("link_in_the_data_folder", "says", FILES, "EACCES"),
        _Row("hard_link_in_the_data_folder", "says", FILES, "EXDEV"),
        _Row("follow_a_link_that_lies_there", "says", FILES, "EACCES"),
        _Row("write_through_a_link_that_lies_there", "world", FILES, "EACCES"),
    ),
    "/proc and devices": (
        _Row("proc_environ_of_the_host", "says", FILES, "EACCES"),
        _Row("proc_memory_of_the_host", "did", FILES, "EACCES"),
        _Row("proc_memory_of_itself", "did", FILES, "EACCES"),
        _Row("proc_root", "says", FILES, "EACCES"),
        _Row("proc_descriptors_of_the_host", "says", FILES, "EACCES"),
        _Row("a_device", "did", FILES, "EACCES"),
    ),
    "network": (
        _Row("tcp_to_loopback", "world", NET, "EPERM"),
        _Row("tcp_by_system_call", "world", OPEN, "EPERM"),
        _Row("udp_to_loopback", "world", NET, "EPERM"),
        _Row("tcp_fast_open", "world", NET, "EPERM"),
        _Row("listen_on_a_port", "did", NET, "EPERM"),
        _Row("look_a_name_up", "did", NET, "-3"),
        _Row("raw_socket", "did", OPEN, "EPERM", needs=True),
        _Row("netlink", "did", OPEN, "EPERM", needs=True),
        _Row("vsock", "did", OPEN, "EPERM", needs=True),
    ),
    "named sockets": (
        _Row("named_socket", "world", NET, "EPERM"),
        _Row("abstract_socket", "world", NET, "EPERM"),
        _Row("datagram_pair_to_a_named_socket", "world", NET, "EPERM"),
    ),
    "processes": (
        _Row("run_a_program", "world", PROCESS, "EPERM"),
        _Row("run_by_system", "world", PROCESS, NO_HARM),
        _Row("run_by_posix_spawn", "world", PROCESS, "EPERM"),
        _Row("run_below_python", "world", OPEN, "EPERM"),
        _Row("become_a_program", "world", PROCESS, "EPERM", spoils=True),
        _Row("fork", "did", PROCESS, "EPERM"),
        _Row("fork_by_system_call", "did", OPEN, "EPERM"),
        _Row("fork_as_a_clone", "did", OPEN, "EPERM"),
        _Row("a_namespace_of_its_own", "did", OPEN, "EPERM", spoils=True, needs=True),
        _Row("another_root", "did", OPEN, "EPERM", spoils=True, needs=True),
        _Row("io_uring", "did", OPEN, "ENOSYS", needs=True),
    ),
    "signals and the like": (
        _Row("signal_another_process", "world", PROCESS, "EPERM"),
        _Row("signal_its_group", "world", PROCESS, "EPERM"),
        _Row("signal_by_descriptor", "world", OPEN, "EPERM", needs=True),
        _Row("trace_another_process", "did", OPEN, "EPERM", needs=True),
        _Row("read_anothers_memory", "did", OPEN, "EPERM", needs=True),
        _Row("slow_another_down", "world", OPEN, "EPERM", needs=True),
        _Row("move_another_to_one_core", "world", OPEN, "EPERM", needs=True),
        _Row("limit_another", "world", PROCESS, "EPERM"),
        _Row("outlive_the_host", "did", OPEN, "EPERM", spoils=True, needs=True),
        _Row("type_into_the_terminal", "did", "ENOTTY", "EPERM"),
        _Row("keys_of_the_kernel", "did", OPEN, "EPERM", needs=True),
        _Row("shared_memory_that_stays", "did", OPEN, "EPERM", needs=True),
        _Row("empty_everybodys_disks", "did", OPEN, "EPERM"),
        # A kernel without them ends whoever makes one.
        _Row(
            "system_calls_of_32_bits", "did", f"{OPEN} | its host died",
            ENDED + "it ended with signal SIGSYS" if platform.machine() == "x86_64" else "ENOSYS",
            spoils=True, needs=True,
        ),
        _Row("change_the_limits_of_its_process", "did", PROCESS, "ValueError", spoils=True),
    ),
    "memory": (
        _Row("much_memory", "did", OPEN, "ENOMEM"),
        _Row("memory_in_small_pieces", "did", OPEN, "RuntimeError"),
        _Row("memory_without_a_limit", "did", OPEN, "EPERM", needs=True),
    ),
    "processor": (
        _Row("busy_for_ever", "dies", OPEN, "overdue", spoils=True),
        _Row("hold_the_interpreter", "dies", OPEN, "overdue", spoils=True),
        _Row("swallow_the_cancellation", "dies", OPEN, "overdue", spoils=True),
        _Row("hang_without_a_word", "dies", "overdue", "overdue", spoils=True),
    ),
    "disk": (
        _Row("a_file_without_end", "did", OPEN, "EFBIG"),
        _Row("more_than_the_quota", "did", OPEN, OPEN),
        _Row("many_files", "did", OPEN, OPEN),
        _Row("a_folder_without_bottom", "dies", NO_HARM, NO_HARM),
    ),
    "descriptors": (
        _Row("many_descriptors", "did", OPEN, "EMFILE"),
        _Row("descriptors_of_the_host", "says", OPEN, NO_HARM),
        _Row("close_everything", "dies", OPEN, f"{OVERDUE_OR_GONE} | {ENDED}it ended with exit status 0", spoils=True),
    ),
    "the end of the process": (
        _Row("exit_at_once", "dies", OPEN, ENDED + "it ended with exit status 7", spoils=True),
        _Row("crash", "dies", OPEN, ENDED + "it ended with signal SIGSEGV", spoils=True),
        _Row("alarm", "dies", OPEN, ENDED + "it ended with signal SIGALRM", spoils=True),
        # From 3.12 on, Python counts how deep its own functions in C go; 3.13 stops after the end of a worker's stack.
        _Row(
            "recurse_for_ever", "dies", f"{OPEN} | RecursionError",
            "RecursionError" if sys.version_info[:2] == (3, 12) else ENDED + "it ended with signal SIGSEGV",
            spoils=True,
        ),
    ),
    "what shares a process": (
        _Row("secret_in_the_environment", "says", OPEN, NO_HARM),
        _Row("secret_in_memory", "says", OPEN, NO_HARM),
        _Row("change_a_function_of_the_host", "says", OPEN, FILES, spoils=True),
        _Row("change_the_environment", "world", PROCESS, NO_HARM),
        _Row("another_plugins_services", "did", "NoContext", NO_HARM),
        _Row("another_plugins_frame", "world", OPEN, FILES),
        _Row("no_frame", "says", OPEN, "EACCES"),
        _Row("a_thread_left_behind", "says", OPEN, "EACCES"),
        _Row("a_finalizer", "says", OPEN, "EACCES", spoils=True),
        _Row("a_service_from_a_bare_thread", "did", "NoContext", "NoContext"),
        _Row("modules_of_the_host", "says", OPEN, NO_HARM),
    ),
    "through the services": (
        _Row("path_with_dotdot", "says", FILES, FILES),
        _Row("path_that_is_absolute", "says", "fs-read not-declared", "fs-read not-declared"),
        _Row("path_through_a_link", "says", FILES, FILES),
        _Row("path_through_a_linked_folder", "says", FILES, FILES),
        _Row("write_through_a_link", "world", FILES, FILES),
        _Row("path_of_proc", "says", "fs-read not-declared", "fs-read not-declared"),
        _Row("secret_of_the_project", "says", FILES, FILES),
        _Row("secret_in_other_letters", "says", FILES, FILES),
        _Row("git_hook", "world", FILES, FILES),
        _Row("git_hook_in_other_letters", "world", FILES, FILES),
        _Row("a_file_that_others_run", "world", FILES, FILES),
        _Row("a_pipe_that_hangs", "dies", FILES, FILES),
        _Row("a_link_that_changes", "says", NO_HARM, NO_HARM),
        _Row("copy_through_a_link", "says", FILES, FILES),
        _Row("the_applications_own_files", "says", "fs-read not-declared", "fs-read not-declared"),
        _Row("another_host", "world", NET, NET),
        _Row("a_host_that_looks_alike", "world", NET, NET),
        _Row("a_redirect_elsewhere", "world", NET, NET),
        _Row("a_header_that_smuggles", "world", "network-request", "network-request"),
        _Row("another_method_in_a_reading_call", "world", NET, NET),
        _Row("the_method_in_a_header", "world", "network-request", "network-request"),
        _Row("see_the_credential", "says", NO_HARM, NO_HARM),
        _Row("see_the_credential_in_other_letters", "says", OPEN, OPEN),
        _Row("the_credential_elsewhere", "says", NET, NET),
        _Row("methods_of_the_credentials", "says", OPEN, "AttributeError"),
        _Row("change_a_credential_in_a_reading_call", "world", "credential out-of-scope", "credential out-of-scope"),
        _Row("another_command", "world", PROCESS, PROCESS),
        _Row("a_command_in_a_reading_call", "world", PROCESS, PROCESS),
        _Row("a_command_that_writes_outside", "world", NO_HARM, NO_HARM),
        _Row("a_command_that_reads_outside", "says", NO_HARM, NO_HARM),
        _Row("a_command_that_plants_a_hook", "world", NO_HARM, NO_HARM),
        _Row("a_command_that_connects", "world", NO_HARM, NO_HARM),
        _Row("a_command_that_stays", "dies", NO_HARM, NO_HARM),
        _Row("a_secret_that_comes_while_a_command_runs", "says", OPEN, OPEN),
        _Row("a_command_that_multiplies", "did", "process-limit", "process-limit"),
        _Row("a_command_that_takes_all_memory", "did", "process-limit", "process-limit"),
        _Row("write_in_a_reading_call", "world", FILES, FILES),
        _Row("damage_inside_the_grant", "world", OPEN, OPEN),
        _Row("flood_of_denials", "dies", NO_HARM, NO_HARM),
        _Row("a_flood_of_exports", "dies", NO_HARM, NO_HARM),
    ),
    "frames that are none": (
        _Row("a_frame_of_junk", "dies", NO_WIRE, ENDED + "it sent a frame that is no message"),
        _Row("a_frame_of_four_gigabytes", "dies", NO_WIRE, ENDED + "it sent a frame of 4294967295 bytes"),
        _Row("a_frame_of_empty_arrays", "dies", NO_WIRE, ENDED + "it sent a frame of 33554441 bytes"),
        _Row(
            "an_answer_of_empty_arrays", "dies", NO_WIRE,
            ENDED + "it sent a value with more than 262144 lists and objects",
        ),
        _Row("a_frame_that_nests", "dies", NO_WIRE, ENDED + "it sent a frame that is no message"),
        _Row("a_frame_of_another_type", "dies", NO_WIRE, "the result does not have the parts of one"),
        _Row("a_frame_of_no_kind", "dies", NO_WIRE, ENDED + "it sent a frame of no known kind"),
        _Row("a_frame_without_end", "dies", NO_WIRE, "overdue"),
    ),
    "lies on the wire": (
        _Row(
            "an_answer_that_nobody_asked_for", "dies", NO_WIRE,
            ENDED + "it sent an answer to a call that was never made",
        ),
        _Row("an_answer_with_a_class", "world", NO_WIRE, "a part of the result is of no known kind"),
        _Row("an_error_with_a_class", "dies", NO_WIRE, ENDED + "its worker reported an error that is none"),
        _Row("an_event_that_is_none", "dies", NO_WIRE, ENDED + "it sent an event that is none"),
        _Row("a_question_that_is_none", "dies", NO_WIRE, ENDED + "it sent a question that is none"),
    ),
    "names that are code": (
        _Row("a_question_whose_name_is_code", "world", NO_WIRE, "RuntimeError"),
        _Row("a_question_for_what_is_private", "says", NO_WIRE, "RuntimeError"),
        _Row("an_argument_whose_name_is_code", "world", NO_WIRE, "TypeError"),
        _Row("a_question_for_no_call", "did", NO_WIRE, "NoContext"),
        _Row("a_question_for_a_call_of_others", "did", NO_WIRE, "NoContext"),
        _Row("the_widest_of_its_open_calls", "world", NO_WIRE, OPEN),
    ),
    "floods": (
        _Row("a_flood_of_questions", "dies", NO_WIRE, ENDED + "it sent more than 256 questions at once"),
        _Row("a_flood_of_lines", "dies", NO_WIRE, "overdue"),
        _Row("a_flood_of_reports", "dies", NO_WIRE, "overdue"),
        _Row("a_host_that_nobody_reads", "dies", NO_WIRE, OVERDUE_OR_DEAF),
    ),
}

ATTACKS: tuple[Attack, ...] = tuple(
    Attack(
        name=row.name, family=family, proof=cast(Literal["says", "did", "world", "dies"], row.proof),
        trusted=row.trusted, isolated=row.isolated, spoils=row.spoils, needs=row.needs,
    )
    for family, rows in _FAMILIES.items()
    for row in rows
)  # fmt: skip

STARTS: tuple[Attack, ...] = tuple(
    Attack(name=name, family="names that are code, at the start", proof="did", trusted=trusted, isolated=isolated)
    for name, trusted, isolated in (
        ("a_hook_whose_name_is_code", "refused: hook-unknown", "refused: hook-unknown"),
        ("a_tool_whose_name_is_code", *(2 * ("refused: tools missing tools undeclared",))),
        ("a_worker_that_lies_about_a_hooks_name", NO_WIRE, "refused: hook-unknown"),
        ("a_worker_that_lies_about_a_parameters_name", NO_WIRE, "active"),
        ("a_worker_that_says_no_names_at_all", NO_WIRE, f"failed: demo 1.0: {WRONG}"),
    )
)

INSTALLS: tuple[Attack, ...] = tuple(
    Attack(name=name, family="what pip ran, before any consent", proof="world", trusted=expected, isolated=expected)
    for name, expected in (
        ("a_startup_file: refused", "refused distribution-startup-file"),
        ("a_startup_file: run", OPEN),
        ("an_entry_point_of_pydantic: refused", "refused distribution-foreign-group"),
        ("an_entry_point_of_pydantic: run", "not run"),
        ("an_entry_point_of_keyring: refused", "refused distribution-foreign-group"),
        ("an_entry_point_of_keyring: run", "not run"),
        ("an_entry_point_of_pygments: refused", "refused distribution-foreign-group"),
        ("an_entry_point_of_pygments: run", "not run"),
        ("a_module_of_others: refused", "refused distribution-stray-file"),
        ("a_module_of_others: run", OPEN),
        ("a_script_named_yaz: refused", "refused distribution-script-taken"),
        ("a_script_named_yaz: run", OPEN),
        ("a_dependencys_startup_file: run", OPEN),
        ("a_dependencys_entry_points: run", "not run"),
        ("a_dependencys_module_of_others: run", OPEN),
        ("a_dependencys_script_named_yaz: run", OPEN),
    )
)

PRECEDES: Mapping[str, str] = {
    "a_startup_file: run": "pip has put it there, and every Python runs it at its start; the plugin is refused",
    "a_module_of_others: run": "pip overwrites what lies there, and whoever loads the module runs it; it is refused",
    "a_script_named_yaz: run": "pip has replaced the command, and whoever types it runs the plugin's",
    "a_dependencys_startup_file: run": "the same of a library: it is ordinary installed code",
    "a_dependencys_module_of_others: run": "the same of a library, which nobody refuses",
    "a_dependencys_script_named_yaz: run": "the same of a library, which nobody refuses",
}
"""What works because it happens before yaz does: by plain `pip install`. `yaz install` keeps a plugin to itself."""
