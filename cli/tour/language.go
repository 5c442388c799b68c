package tour

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"regexp"
	"strconv"
	"strings"
)

// LanguageServer is the hidden subcommand with which jcode simulates the tour's language server.
const LanguageServer = "tour-language-server"

// maxMessage bounds one message to the simulated server, in bytes.
const maxMessage = 1 << 20

// ServeLanguage simulates a language server for shell scripts, until its client says exit or in ends. It only
// knows which variables a script uses without setting them.
func ServeLanguage(in io.Reader, out io.Writer) error {
	r := bufio.NewReader(in)
	for {
		req, err := readLanguage(r)
		if errors.Is(err, io.EOF) || err == nil && req.Method == "exit" {
			return nil
		}
		if err != nil {
			return fmt.Errorf("tour's language server: %w", err)
		}
		if answer := req.answer(); answer != nil {
			answer["jsonrpc"] = "2.0"
			body, err := json.Marshal(answer)
			if err != nil {
				return fmt.Errorf("tour's language server: %w", err)
			}
			if _, err := fmt.Fprintf(out, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
				return fmt.Errorf("tour's language server: %w", err)
			}
		}
	}
}

// languageRequest holds the fields of a message that the server reads.
type languageRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		TextDocument struct {
			URI     string `json:"uri"`
			Version int    `json:"version"`
			Text    string `json:"text"`
		} `json:"textDocument"`
		ContentChanges []struct {
			Text string `json:"text"`
		} `json:"contentChanges"`
	} `json:"params"`
}

func readLanguage(r *bufio.Reader) (req languageRequest, err error) {
	header, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		return req, err
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil || length < 0 || length > maxMessage {
		return req, fmt.Errorf("a message of %q bytes", header.Get("Content-Length"))
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return req, err
	}
	return req, json.Unmarshal(body, &req)
}

// answer returns the answer to a message; nil for none.
func (r languageRequest) answer() map[string]any {
	doc := r.Params.TextDocument
	switch r.Method {
	case "initialize": // 1: a change contains the whole text
		return map[string]any{"id": r.ID, "result": map[string]any{"capabilities": map[string]any{"textDocumentSync": 1}}}
	case "textDocument/didChange":
		if n := len(r.Params.ContentChanges); n > 0 {
			doc.Text = r.Params.ContentChanges[n-1].Text
		}
	case "textDocument/didOpen":
	default:
		if len(r.ID) == 0 {
			return nil
		}
		return map[string]any{"id": r.ID, "result": nil}
	}
	return map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{
		"uri": doc.URI, "version": doc.Version, "diagnostics": unsetVariables(doc.Text),
	}}
}

// unsetVariables reports the variables that a shell script uses and never sets. Its lines are
// ASCII, so that bytes are characters.
func unsetVariables(script string) []map[string]any {
	set := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)(?:^|[\s;])([A-Za-z_]\w*)=`).FindAllStringSubmatch(script, -1) {
		set[m[1]] = true
	}
	found := []map[string]any{}
	use := regexp.MustCompile(`\$\{?([A-Za-z_]\w*)`)
	for n, line := range strings.Split(script, "\n") {
		for _, at := range use.FindAllStringSubmatchIndex(line, -1) {
			name := line[at[2]:at[3]]
			if set[name] {
				continue
			}
			found = append(found, map[string]any{
				"severity": 1, "source": "tour", "message": name + " is not set",
				"range": map[string]any{
					"start": map[string]int{"line": n, "character": at[2]},
					"end":   map[string]int{"line": n, "character": at[3]},
				},
			})
		}
	}
	return found
}
