package shell

import "mvdan.cc/sh/v3/syntax"

// ofBash reports whether all that bash reads differently than sh in a text is what this package understands of bash:
// |&, &>, <<< and $'…'. These are put into the words of sh, which must then read the rest alike.
func ofBash(src string) bool {
	file, err := parse(src, syntax.LangBash)
	if err != nil {
		return false
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.PipeAll {
				n.Op = syntax.Pipe
			}
		case *syntax.Redirect:
			switch n.Op {
			case syntax.RdrAll:
				n.Op = syntax.RdrOut
			case syntax.AppAll:
				n.Op = syntax.AppOut
			case syntax.WordHdoc:
				n.Op = syntax.RdrIn
			}
		case *syntax.SglQuoted:
			if n.Dollar {
				n.Dollar, n.Value = false, "text"
			}
		}
		return true
	})
	plain := printed(file)
	posix, err := parse(plain, syntax.LangPOSIX)
	return err == nil && printed(posix) == plain
}
