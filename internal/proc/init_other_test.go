//go:build unix && !linux

package proc_test

func playInit() {}
