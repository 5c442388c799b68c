package proc

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Group lists the members of a process group that run. Their folders are not known here.
func Group(id int) (out []Member) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", id)
	if err != nil {
		return nil
	}
	for i := range list {
		if p := &list[i].Proc; p.P_stat != zombie {
			m := member(int(p.P_pid))
			m.Parent = int(list[i].Eproc.Ppid)
			out = append(out, m)
		}
	}
	return out
}

// member reads what kern.procargs2 says: how many arguments there are, the program's path, and the arguments.
func member(pid int) Member {
	m := Member{Pid: pid}
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(raw) < 4 {
		return m
	}
	n := int(binary.LittleEndian.Uint32(raw))
	program, rest, _ := bytes.Cut(raw[4:], []byte{0})
	m.Program = string(program)
	rest = bytes.TrimLeft(rest, "\x00")
	for range min(n, 1000) {
		arg, more, found := bytes.Cut(rest, []byte{0})
		if !found {
			break
		}
		m.Args, rest = append(m.Args, string(arg)), more
	}
	return m
}
