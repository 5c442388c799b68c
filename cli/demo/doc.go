// Package demo is `jcode demo`: it plays the offline tour of package tour with the real conversation loop, in the terminal
// or printed. In a printed tour, who answers approvals and signs in is played, too (asker.go, play.go).
package demo
