package proc

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// AsInit acts as init if this process is process 1: in a container without an init. It runs the
// same program with the same arguments as a child, passes it the terminal and the signals, reaps
// every orphan, and returns the child's exit code. done is false in any other process, and if no
// child can be started.
func AsInit() (code int, done bool) {
	if os.Getpid() != 1 {
		return 0, false
	}
	exe, err := os.Executable()
	if err != nil {
		return 0, false
	}
	return runInit(exe, os.Args)
}

// runInit starts the program and reaps until it ends.
func runInit(exe string, args []string) (code int, done bool) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	attr := &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{}}
	if foreground(0) { // input is only for the child
		attr.Sys.Foreground, attr.Sys.Ctty = true, 0
	}
	child, err := syscall.ForkExec(exe, args, attr)
	if err != nil {
		return 0, false
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case s := <-signals:
				_ = syscall.Kill(child, s.(syscall.Signal)) // the child may have ended
			case <-ended:
				return
			}
		}
	}()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, true // no child exists, which is impossible
		case pid != child:
		case status.Stopped(): // no other process could resume it
			_ = syscall.Kill(child, syscall.SIGCONT)
		case status.Signaled():
			return 128 + int(status.Signal()), true
		case status.Exited():
			return status.ExitStatus(), true
		}
	}
}

// foreground reports whether a descriptor is this process's terminal, in whose foreground it
// runs.
func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}
