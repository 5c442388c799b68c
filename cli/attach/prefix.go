package attach

import "bytes"

// prefix finds the keys with which a person leaves a window: Ctrl+\ and then d. Ctrl+\ twice sends it once.
type prefix struct{ held []byte }

// spellings are what terminals send for Ctrl+\.
func spellings() [][]byte {
	return [][]byte{{0x1c}, []byte("\x1b[92;5u"), []byte("\x1b[27;5;92~")}
}

// next returns what is to be sent of some bytes, and whether the person leaves.
func (p *prefix) next(b []byte) (send []byte, leave bool) {
	for len(b) > 0 {
		pressed := begins(b)
		switch {
		case p.held == nil && pressed > 0:
			p.held = bytes.Clone(b[:pressed])
			b = b[pressed:]
		case p.held == nil:
			end := firstPrefix(b)
			send, b = append(send, b[:end]...), b[end:]
		case pressed > 0: // twice
			send, b, p.held = append(send, p.held...), b[pressed:], nil
		case b[0] == 'd':
			return send, true
		default:
			send, p.held = append(send, p.held...), nil
		}
	}
	return send, false
}

// begins returns how many bytes the key takes with which b begins, 0 for another one.
func begins(b []byte) int {
	for _, s := range spellings() {
		if bytes.HasPrefix(b, s) {
			return len(s)
		}
	}
	return 0
}

// firstPrefix returns where the key is pressed first, the end of b if it isn't.
func firstPrefix(b []byte) int {
	end := len(b)
	for _, s := range spellings() {
		if i := bytes.Index(b[:end], s); i >= 0 {
			end = i
		}
	}
	return end
}
