package host

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// harden removes every right from the process that Lua does not need, and returns which layers
// are in force. Landlock and no_new_privs apply per thread; go-landlock sets them on all threads
// of the runtime.
func harden(long bool) []string {
	layers := setLimits(long)
	abi, err := llsys.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		if setNoNewPrivs() == nil {
			layers = append(layers, "no_new_privs")
		}
		return layers
	}
	if err := landlock.V11.BestEffort().Restrict(); err != nil {
		fmt.Fprintln(os.Stderr, "lua-host: landlock:", err)
		return layers
	}
	layers = append(layers, "no_new_privs", fmt.Sprintf("landlock %d: no files", abi))
	if abi >= 4 {
		layers = append(layers, "no TCP")
	}
	if abi >= 6 {
		layers = append(layers, "no signals")
	}
	return layers
}

func setNoNewPrivs() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }
