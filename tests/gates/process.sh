#!/bin/sh
# The library touches no state of its process and keeps none of its own: what
# libkvplan.so asks of libc is none of the calls below, and no object of the
# archive has a variable.  usage: process.sh LIBRARY ARCHIVE
set -euf

# What changes, or lets others change, the state of a whole process; what
# prints and exits; what keeps a state between calls.
never='
umask chdir fchdir chroot unshare setns
getenv secure_getenv setenv putenv unsetenv clearenv environ __environ
setlocale uselocale newlocale localeconv nl_langinfo bindtextdomain textdomain
is[a-z]+ to(upper|lower) __ctype_(b|tolower|toupper)_loc strcoll strxfrm
signal sigaction sigprocmask pthread_sigmask sigsuspend sigaltstack
(bsd_|sysv_|__sysv_)signal sigset sigignore sighold sigrelse siginterrupt
sigwait sigwaitinfo sigtimedwait signalfd raise kill killpg tgkill pthread_kill
alarm ualarm setitimer timer_create pause
exit _exit _Exit quick_exit atexit at_quick_exit on_exit __cxa_atexit
fork vfork _Fork clone posix_spawnp? exec[a-z]+ fexecve system popen pclose
wait waitpid waitid wait3 wait4 daemon setsid setpgid
setuid setgid sete[ug]id setre[ug]id setres[ug]id setgroups
setrlimit(64)? prlimit(64)? nice setpriority sched_set[a-z]+ prctl personality
mlockall munlockall mallopt malloc_trim fesetround fesetenv
std(in|out|err) _?IO_[a-z0-9_]* (v?d?printf|puts|putchar|perror|psignal)
__v?printf_chk f?getc getchar scanf gets getline syslog openlog err errx warn warnx
getopt(_long|_long_only)? opt(arg|ind|err|opt)
rand srand random srandom initstate setstate [dejlmn]rand48 srand48 seed48
lcong48 strtok strerror strsignal strfry dirname basename
asctime ctime gmtime localtime mktime tzset
tmpnam tempnam mktemp
hcreate hsearch hdestroy ecvt fcvt gcvt l64a lgamma crypt
getlogin ttyname getpass cuserid ctermid
get(pw|gr|sp)[a-z]+ get(host|net|proto|serv)by[a-z]+ inet_ntoa
freopen setbuf setvbuf setlinebuf dup2 dup3
cJSON_(Parse[A-Za-z]*|GetErrorPtr|InitHooks)
'
pattern=$(echo $never | tr ' ' '|')
nm -D --undefined-only "$1" | sed 's/^ *[UwWvV] //; s/@.*//' |
	grep -xE "$pattern" >&2 && {
	echo "process: $1 asks for the above; the library leaves its process alone" >&2
	exit 1
}
nm -D --undefined-only "$1" | grep -q 'U malloc' || {
	echo "process: nothing of libc is seen in $1" >&2
	exit 1
}

# Sanitizers add variables of their own.
nm -A "$2" 2>/dev/null | grep -q -e __asan -e __tsan -e __ubsan -e __msan &&
	exit 0
objdump -t "$2" | awk '
	/file format/ { object = $1 }
	/ O (\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && !/ O \.data\.rel\.ro/ {
		print object " " $NF
		bad = 1
	}
	/ O / { objects++ }
	END {
		if (!objects)
			print "no object is seen"
		exit bad || !objects
	}' >&2 || {
	echo "process: $2 has the variables above; the library keeps no state" >&2
	exit 1
}
