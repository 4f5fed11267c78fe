"""The numbers of the system calls that a filter names, for each machine that it is written for.

From the kernel's own tables (`arch/x86/entry/syscalls/syscall_64.tbl`, `include/uapi/asm-generic/unistd.h`). From 424
on every machine has the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

LAST_KNOWN = 469
"""The last number that was looked at when the filters were written. What comes later does not exist for them."""

_SAME = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "pidfd_open": 434, "clone3": 435, "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442,
    "quotactl_fd": 443, "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446,
    "memfd_secret": 447, "process_mrelease": 448, "fchmodat2": 452, "statmount": 457, "listmount": 458,
    "setxattrat": 463, "removexattrat": 466, "open_tree_attr": 467, "file_setattr": 469,
}  # fmt: skip

_X86_64 = {
    "ioctl": 16, "shmget": 29, "shmat": 30, "shmctl": 31, "socket": 41, "connect": 42, "accept": 43, "sendto": 44,
    "bind": 49, "listen": 50, "socketpair": 53, "clone": 56, "fork": 57, "vfork": 58, "execve": 59, "kill": 62,
    "semget": 64, "semop": 65, "semctl": 66, "shmdt": 67, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71,
    "fcntl": 72, "truncate": 76, "chmod": 90, "fchmod": 91, "chown": 92, "fchown": 93, "lchown": 94, "ptrace": 101,
    "syslog": 103, "setpgid": 109, "setsid": 112, "capset": 126, "rt_sigqueueinfo": 129, "utime": 132,
    "mknod": 133, "uselib": 134, "personality": 135, "ustat": 136, "sysfs": 139, "setpriority": 141,
    "sched_setparam": 142, "sched_setscheduler": 144, "vhangup": 153, "modify_ldt": 154, "pivot_root": 155,
    "prctl": 157, "adjtimex": 159, "chroot": 161, "sync": 162,
    "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168,
    "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173, "init_module": 175,
    "delete_module": 176, "quotactl": 179, "nfsservctl": 180, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190,
    "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199, "tkill": 200, "sched_setaffinity": 203,
    "lookup_dcookie": 212, "semtimedop": 220, "clock_settime": 227, "tgkill": 234, "utimes": 235, "mbind": 237,
    "set_mempolicy": 238, "mq_open": 240, "mq_unlink": 241, "kexec_load": 246, "add_key": 248, "request_key": 249,
    "keyctl": 250, "ioprio_set": 251, "inotify_init": 253, "migrate_pages": 256, "mknodat": 259, "fchownat": 260,
    "futimesat": 261, "fchmodat": 268, "unshare": 272, "move_pages": 279, "utimensat": 280, "accept4": 288,
    "inotify_init1": 294, "rt_tgsigqueueinfo": 297, "perf_event_open": 298, "fanotify_init": 300, "prlimit64": 302,
    "name_to_handle_at": 303, "open_by_handle_at": 304, "clock_adjtime": 305, "syncfs": 306, "sendmmsg": 307,
    "setns": 308,
    "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "sched_setattr": 314,
    "seccomp": 317, "memfd_create": 319, "kexec_file_load": 320, "bpf": 321, "execveat": 322, "userfaultfd": 323,
    **_SAME,
}  # fmt: skip

_AARCH64 = {
    "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
    "lookup_dcookie": 18, "fcntl": 25, "inotify_init1": 26, "ioctl": 29, "ioprio_set": 30, "mknodat": 33,
    "umount2": 39, "mount": 40, "pivot_root": 41, "nfsservctl": 42, "truncate": 45, "chroot": 51, "fchmod": 52,
    "fchmodat": 53, "fchownat": 54, "fchown": 55, "vhangup": 58, "quotactl": 60, "sync": 81, "utimensat": 88,
    "acct": 89,
    "capset": 91, "personality": 92, "unshare": 97, "kexec_load": 104, "init_module": 105, "delete_module": 106,
    "clock_settime": 112, "syslog": 116, "ptrace": 117, "sched_setparam": 118, "sched_setscheduler": 119,
    "sched_setaffinity": 122, "kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138, "setpriority": 140,
    "reboot": 142, "setpgid": 154, "setsid": 157, "sethostname": 161, "setdomainname": 162, "prctl": 167,
    "settimeofday": 170, "adjtimex": 171,
    "mq_open": 180, "mq_unlink": 181, "msgget": 186, "msgctl": 187, "msgrcv": 188, "msgsnd": 189, "semget": 190,
    "semctl": 191, "semtimedop": 192, "semop": 193, "shmget": 194, "shmctl": 195, "shmat": 196, "shmdt": 197,
    "socket": 198, "socketpair": 199, "bind": 200, "listen": 201, "accept": 202, "connect": 203, "sendto": 206,
    "add_key": 217, "request_key": 218, "keyctl": 219, "clone": 220, "execve": 221, "swapon": 224, "swapoff": 225,
    "mbind": 235, "set_mempolicy": 237, "migrate_pages": 238, "move_pages": 239, "rt_tgsigqueueinfo": 240,
    "perf_event_open": 241, "accept4": 242, "prlimit64": 261, "fanotify_init": 262, "name_to_handle_at": 264,
    "open_by_handle_at": 265, "clock_adjtime": 266, "syncfs": 267, "setns": 268, "sendmmsg": 269,
    "process_vm_readv": 270,
    "process_vm_writev": 271, "kcmp": 272, "finit_module": 273, "sched_setattr": 274, "seccomp": 277,
    "memfd_create": 279, "bpf": 280, "execveat": 281, "userfaultfd": 282, "kexec_file_load": 294,
    **_SAME,
}  # fmt: skip


@attrs.frozen
class Machine:
    """What a filter must know of a machine: how the kernel names it, and its numbers. A call it lacks is absent."""

    name: str
    audit: int
    numbers: Mapping[str, int]


MACHINES = {
    "x86_64": Machine("x86_64", 0xC000003E, _X86_64),
    "aarch64": Machine("aarch64", 0xC00000B7, _AARCH64),
}
"""The machines that filters are written for, by `platform.machine()`."""
