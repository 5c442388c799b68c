package printcli

import (
	"bufio"
	"errors"
	"fmt"

	"jcode/agent/event"
	"jcode/cli/console"
	"jcode/cli/structured"
	"jcode/internal/atomicfile"
)

// Wanted is what a headless run shall end with: any text, or a value that fits a schema. The answer is written
// to a file too, if one is named.
type Wanted struct {
	schema *structured.Schema // nil for any text
	file   string
	again  bool // the model was asked again
}

// Want returns what is wanted by a schema and a file of the command line, each "" for none.
func Want(schema, file string) (*Wanted, error) {
	w := &Wanted{file: file}
	if schema == "" {
		return w, nil
	}
	var err error
	if w.schema, err = structured.Read(schema); err != nil {
		return nil, console.Usage("--output-schema: %w", err)
	}
	return w, nil
}

// Prompt adds to a prompt what the model must know of the answer.
func (w *Wanted) Prompt(p event.Prompt) event.Prompt {
	if w.schema == nil || p.Text == "" {
		return p
	}
	if p.Shown == "" {
		p.Shown = p.Text
	}
	p.Text += "\n\n" + w.schema.Instruction()
	p.Answer = w.schema.JSON()
	return p
}

// Repeat is the prompt that asks again.
func (w *Wanted) Repeat(text string) event.Prompt {
	return event.Prompt{Text: text, Answer: w.schema.JSON()}
}

// Printer returns the printer of a run: of a value, stdout gets nothing else.
func (w *Wanted) Printer(format string, std console.Streams) (Printer, *bufio.Writer) {
	pr, out := New(format, std)
	if _, isText := pr.(*TextPrinter); isText && w.schema != nil {
		return &valuePrinter{jsonPrinter{out: out, notices: std.Err}}, out
	}
	return pr, out
}

// Settle takes the answer of a turn that ended. again is what to ask if it does not fit, once; err is what ends the
// run besides the turn.
func (w *Wanted) Settle(end event.TurnEnd, res *Result) (again string, err error) {
	if !res.OK {
		return "", nil
	}
	answer := []byte(end.Text + "\n")
	if w.schema != nil {
		value, fault := w.schema.Value(end.Text)
		switch {
		case fault != nil && !w.again:
			w.again = true
			return w.schema.Again(fault), nil
		case fault != nil:
			res.OK, res.Error = false, fmt.Sprintf("the answer does not fit the schema: %v", fault)
			return "", &console.Exit{Code: console.ExitSchema, Silent: true, Err: errors.New(res.Error)}
		}
		res.Structured, answer = value, append(value[:len(value):len(value)], '\n')
	}
	if w.file == "" {
		return "", nil
	}
	if err := atomicfile.Write(w.file, answer, atomicfile.Options{Perm: 0o666}); err != nil {
		res.OK, res.Error = false, fmt.Sprintf("the answer can't be written: %v", err)
		return "", &console.Exit{Code: console.ExitUsage, Silent: true, Err: err}
	}
	return "", nil
}

// valuePrinter writes the value alone to stdout.
type valuePrinter struct{ jsonPrinter }

func (p *valuePrinter) End(res Result) {
	if res.Structured != nil {
		console.WriteLine(p.out, res.Structured)
	}
	if res.Error != "" {
		fmt.Fprintln(p.notices, "jcode: "+res.Error)
	}
}
