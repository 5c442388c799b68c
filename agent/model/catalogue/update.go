package catalogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Table is a table of models and prices that was read from a file or an address.
type Table struct {
	// Date is when its prices were read, YYYY-MM-DD, and Source where.
	Date   string `json:"date"`
	Source string `json:"source"`
	Models []Row  `json:"models"`
}

// Row is one model of a table: its name, for every ID that has it, and what is known of it.
type Row struct {
	ID string `json:"id"`
	Info
}

// ParseTable reads a table. The error names the row and the field.
func ParseTable(data []byte) (Table, error) {
	var t Table
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&t); err != nil {
		return Table{}, fmt.Errorf("not a table of models: %w", err)
	}
	if _, err := time.Parse(time.DateOnly, t.Date); err != nil {
		return Table{}, fmt.Errorf("date: %q is no day such as 2026-11-20", t.Date)
	}
	if strings.TrimSpace(t.Source) == "" {
		return Table{}, errors.New("source: it must say where the prices are from")
	}
	if len(t.Models) == 0 {
		return Table{}, errors.New("models: there is none")
	}
	seen := map[string]bool{}
	for i, r := range t.Models {
		at := fmt.Sprintf("models[%d] (%s)", i, r.ID)
		name := Name(r.ID)
		switch {
		case name == "":
			return Table{}, fmt.Errorf("%s: id is missing", at)
		case seen[name]:
			return Table{}, fmt.Errorf("%s: a second row of %s", at, name)
		case r.Window < 0 || r.MaxOutput < 0 || r.Input < 0 || r.Output < 0 || r.Cached < 0 || r.Write < 0 || r.WriteHour < 0:
			return Table{}, fmt.Errorf("%s: a number below 0", at)
		case (r.Input == 0) != (r.Output == 0):
			return Table{}, fmt.Errorf("%s: input and output are prices together", at)
		case r.Long != Long{} && (r.Long.Above <= 0 || r.Long.Input <= 0 || r.Long.Output <= 0):
			return Table{}, fmt.Errorf("%s: long needs above, and the factors input and output", at)
		}
		for tier, factor := range r.Tiers {
			if factor <= 0 {
				return Table{}, fmt.Errorf("%s: tiers.%s must be a factor above 0", at, tier)
			}
		}
		seen[name] = true
	}
	return t, nil
}

// Own returns the table in the form of Lookup's second argument.
func (t Table) Own() map[string]Info {
	out := make(map[string]Info, len(t.Models))
	for _, r := range t.Models {
		r.ByName = true
		out[Name(r.ID)] = r.Info
	}
	return out
}

// Over returns what i knows on top of base, which may be another entry of one's own.
func (i Info) Over(base Info) Info { return i.over(base) }
