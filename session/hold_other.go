//go:build !unix

package session

// ended is not needed where children have no part in the locks of their parent.
func ended(int) bool { return false }
