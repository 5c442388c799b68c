package host

import (
	"net"
	"os"
	"syscall"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// probes are functions for tests that try what a host must not be able to do.
func probes() map[string]lua.LGFunction {
	report := func(L *lua.LState, err error) int {
		if err == nil {
			L.Push(lua.LString("worked"))
		} else {
			L.Push(lua.LString("refused"))
		}
		return 1
	}
	return map[string]lua.LGFunction{
		"probe_open": func(L *lua.LState) int {
			f, err := os.Open(L.CheckString(1))
			if err == nil {
				_ = f.Close()
			}
			return report(L, err)
		},
		"probe_create": func(L *lua.LState) int {
			f, err := os.Create(L.CheckString(1))
			if err == nil {
				_ = f.Close()
			}
			return report(L, err)
		},
		"probe_dial": func(L *lua.LState) int {
			c, err := net.DialTimeout("tcp", L.CheckString(1), time.Second)
			if err == nil {
				_ = c.Close()
			}
			return report(L, err)
		},
		"probe_signal": func(L *lua.LState) int {
			p, err := os.FindProcess(os.Getppid())
			if err == nil {
				err = p.Signal(syscall.Signal(0))
			}
			return report(L, err)
		},
		"probe_panic": func(*lua.LState) int { panic("probe") },
		"probe_env": func(L *lua.LState) int {
			L.Push(lua.LString(os.Getenv(L.CheckString(1))))
			return 1
		},
	}
}
