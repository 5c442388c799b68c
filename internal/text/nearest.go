package text

import "strings"

// Nearest returns the candidate that a misspelt word most likely means, "" for none.
func Nearest(word string, candidates []string) string {
	best, bestAt := "", 1+max(1, len(word)/3)
	for _, c := range candidates {
		if d := distance(LooseKey(word), LooseKey(c)); d < bestAt {
			best, bestAt = c, d
		}
	}
	return best
}

// LooseKey makes keys comparable regardless of their spelling: maxTools, max_tools, max-tools.
func LooseKey(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '_' || r == '-':
			return -1
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// distance counts the single changes between two words; swapping two adjacent letters is one change.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	var before []int
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur := make([]int, len(b)+1)
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev = prev, cur
	}
	return prev[len(b)]
}
