// Package tuitest plays a conversation and its sessions for tests of the front ends.
package tuitest
