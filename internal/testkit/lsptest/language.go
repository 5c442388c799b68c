package lsptest

import (
	"encoding/json"
	"strings"
	"unicode/utf16"
)

// word is the position of a name.
type word struct {
	uri, verb, name string
	line, from, to  int // characters in UTF-16 units
}

func (w word) span() object {
	return object{"start": object{"line": w.line, "character": w.from}, "end": object{"line": w.line, "character": w.to}}
}

func (w word) location() object { return object{"uri": w.uri, "range": w.span()} }

// words returns all names in a file.
func (s *server) words(uri string) []word {
	var out []word
	for i, line := range strings.Split(s.text(uri), "\n") {
		body := strings.TrimLeft(strings.TrimRight(line, "\r"), " \t")
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		verb, name, ok := strings.Cut(body, " ")
		if ok && (verb == "def" || verb == "use" || verb == "error" || verb == "warn") {
			from := indent + len(verb) + 1
			length := len(utf16.Encode([]rune(name)))
			if s.mode == UTF32 {
				length = len([]rune(name))
			}
			out = append(out, word{uri, verb, name, i, from, from + length})
		}
	}
	return out
}

func (s *server) everywhere(verb, name string) []word {
	var out []word
	for _, uri := range s.files() {
		for _, w := range s.words(uri) {
			if w.name == name && (w.verb == verb || verb == "") {
				out = append(out, w)
			}
		}
	}
	return out
}

// faults returns the diagnostics of a file.
func (s *server) faults(uri string) []any {
	out := []any{}
	for _, w := range s.words(uri) {
		switch {
		case w.verb == "error":
			out = append(out, object{"range": w.span(), "severity": 1, "code": "said", "message": w.name})
		case w.verb == "warn":
			out = append(out, object{"range": w.span(), "severity": 2, "message": w.name})
		case w.verb == "use" && len(s.everywhere("def", w.name)) == 0:
			out = append(out, object{"range": w.span(), "severity": 1, "code": 7, "message": "undefined: " + w.name})
		}
	}
	return out
}

// at returns the name at the request's position.
func (s *server) at(r request) (word, bool) {
	for _, w := range s.words(r.Params.TextDocument.URI) {
		if w.line == r.Params.Position.Line && w.from <= r.Params.Position.Character && r.Params.Position.Character <= w.to {
			return w, true
		}
	}
	return word{}, false
}

func (s *server) answer(r request) {
	w, found := s.at(r)
	locations := []any{}
	add := func(list []word) {
		for _, x := range list {
			locations = append(locations, x.location())
		}
	}
	switch r.Method {
	case "textDocument/diagnostic":
		s.reply(r, object{"kind": "full", "items": s.faults(r.Params.TextDocument.URI)})
	case "textDocument/definition":
		if found {
			add(s.everywhere("def", w.name))
		}
		s.reply(r, locations)
	case "textDocument/references":
		if found {
			add(s.everywhere("", w.name))
		}
		s.reply(r, locations)
	case "textDocument/hover":
		value := "the name " + w.name
		if s.mode == Telling {
			s.told["folders"] = s.folders
			all, err := json.Marshal(s.told)
			if err != nil {
				panic(err)
			}
			value = string(all)
		}
		s.reply(r, object{"contents": object{"kind": "plaintext", "value": value}})
	case "textDocument/documentSymbol":
		list := []any{}
		for _, x := range s.words(r.Params.TextDocument.URI) {
			if x.verb == "def" {
				list = append(list, object{"name": x.name, "kind": 12, "range": x.span(), "selectionRange": x.span()})
			}
		}
		s.reply(r, list)
	case "workspace/symbol":
		list := []any{}
		for _, uri := range s.files() {
			for _, x := range s.words(uri) {
				if x.verb == "def" && strings.Contains(x.name, r.Params.Query) {
					list = append(list, object{"name": x.name, "kind": 12, "location": x.location()})
				}
			}
		}
		s.reply(r, list)
	case "textDocument/rename":
		changes := object{}
		if found {
			for _, x := range s.everywhere("", w.name) {
				list, _ := changes[x.uri].([]any)
				changes[x.uri] = append(list, object{"range": x.span(), "newText": r.Params.NewName})
			}
		}
		s.reply(r, object{"changes": changes})
	case "textDocument/codeAction":
		list := []any{}
		for _, x := range s.words(r.Params.TextDocument.URI) {
			if x.verb == "error" && x.line == r.Params.Range.Start.Line {
				list = append(list, object{"title": "Make it a warning", "kind": "quickfix", "edit": object{"changes": object{
					x.uri: []any{object{"range": object{"start": object{"line": x.line, "character": 0}, "end": object{"line": x.line, "character": 5}}, "newText": "warn"}},
				}}})
			}
		}
		s.reply(r, list)
	case "shutdown":
		s.reply(r, nil)
	default:
		s.send(object{"id": r.ID, "error": object{"code": -32601, "message": "unknown method " + r.Method}})
	}
}
