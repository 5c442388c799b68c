package permission

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"jcode/internal/text"
	"jcode/tools"
)

// TrustRow is a stored approval.
type TrustRow struct {
	Kind tools.TrustKind
	Name string
	Hash string
}

func rowOf(i tools.TrustItem) TrustRow { return TrustRow{i.Kind, i.Name, i.Hash} }

// confined is the row of an item whose programs run confined. Rows without the mark are of a version that
// did not confine them.
func (r TrustRow) confined() TrustRow {
	r.Hash = "confined:" + r.Hash
	return r
}

// refused is the row of an item that the person keeps inert.
func (r TrustRow) refused() TrustRow {
	r.Hash = refusedMark + r.Hash
	return r
}

const refusedMark = "declined:"

// separate reports whether the trust of a run does not include a kind: a right that only a person's own
// answer gives.
func separate(kind tools.TrustKind) bool {
	return kind == tools.TrustNetwork || kind == tools.TrustOutside
}

// TrustStore stores a person's approvals for one project, one row per kind, name and hash. It must be safe
// for concurrent use.
type TrustStore interface {
	// Trusted lists all rows.
	Trusted(ctx context.Context) ([]TrustRow, error)
	// AddTrust stores rows, all or none.
	AddTrust(ctx context.Context, rows ...TrustRow) error
	// RemoveTrust removes the rows of a kind and name, of all versions, and reports whether there were any.
	RemoveTrust(ctx context.Context, kind tools.TrustKind, name string) (bool, error)
}

// Trust decides which things of one project may run: it implements tools.Trust, and asks. It is safe for
// concurrent use.
type Trust struct {
	project string
	store   TrustStore
	run     bool
	state   guarded[trustState]
}

type trustState struct {
	here     map[TrustRow]bool // trusted for this run only
	declined map[TrustRow]bool // not asked again in this run
}

// NewTrust returns the trust of a project's folder. run trusts everything for this run: `--trust`, or a
// folder that the person's own configuration names. A nil store keeps answers for this run only.
func NewTrust(project string, store TrustStore, run bool) *Trust {
	return &Trust{project: project, store: store, run: run}
}

// Trusted reports whether exactly this item may run. An error of the store means no.
func (t *Trust) Trusted(ctx context.Context, item tools.TrustItem) (bool, error) {
	pending, err := t.pending(ctx, []tools.TrustItem{item})
	return err == nil && len(pending) == 0, err
}

// Pending is an item that waits for trust.
type Pending struct {
	tools.TrustItem
	// Changed says that an earlier version of it was trusted.
	Changed bool
}

// pending returns those of the items that are not trusted.
func (t *Trust) pending(ctx context.Context, items []tools.TrustItem) ([]Pending, error) {
	if t.run {
		items = slices.DeleteFunc(slices.Clone(items), func(i tools.TrustItem) bool { return !separate(i.Kind) })
	}
	if len(items) == 0 {
		return nil, nil
	}
	rows, here, err := t.rows(ctx)
	if err != nil {
		return nil, err
	}
	var out []Pending
	for _, i := range items {
		row := rowOf(i)
		if i.Hash != "" && (here[row] || slices.Contains(rows, row.confined()) || slices.Contains(rows, row)) {
			continue
		}
		out = append(out, Pending{i, slices.ContainsFunc(rows, func(r TrustRow) bool { return r.Kind == i.Kind && r.Name == i.Name })})
	}
	slices.SortStableFunc(out, func(a, b Pending) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// rows returns what is stored, and what is trusted for this run.
func (t *Trust) rows(ctx context.Context) (rows []TrustRow, here map[TrustRow]bool, err error) {
	if t.store != nil {
		if rows, err = t.store.Trusted(ctx); err != nil {
			return nil, nil, fmt.Errorf("read trust of %s: %w", t.project, err)
		}
		rows = slices.DeleteFunc(rows, func(r TrustRow) bool { return strings.HasPrefix(r.Hash, refusedMark) })
	}
	t.state.with(func(s *trustState) { here = s.here })
	return rows, here, nil
}

// Unconfined implements tools.Trust.
func (t *Trust) Unconfined(ctx context.Context, item tools.TrustItem) bool {
	rows, here, err := t.rows(ctx)
	row := rowOf(item)
	return err == nil && !t.run && !here[row] && slices.Contains(rows, row) && !slices.Contains(rows, row.confined())
}

// TrustQuestion is the one question about a folder: everything in it that would run.
type TrustQuestion struct {
	// Project is the folder.
	Project string
	Items   []Pending
}

// Question returns what a person must be asked about; ok is false when nothing is pending, or everything
// pending was declined, in this run or for good.
func (t *Trust) Question(ctx context.Context, items []tools.TrustItem) (q TrustQuestion, ok bool, err error) {
	q, _, err = t.Again(ctx, items)
	if err != nil {
		return q, false, err
	}
	refused, err := t.refused(ctx)
	q.Items = slices.DeleteFunc(q.Items, func(p Pending) bool { return refused[rowOf(p.TrustItem)] })
	return q, err == nil && len(q.Items) > 0, err
}

// Again returns the question about everything that is pending, whatever was answered before.
func (t *Trust) Again(ctx context.Context, items []tools.TrustItem) (q TrustQuestion, ok bool, err error) {
	pending, err := t.pending(ctx, items)
	return TrustQuestion{t.project, pending}, len(pending) > 0, err
}

// Refused names the pending items that the person keeps inert for good.
func (t *Trust) Refused(ctx context.Context, items []tools.TrustItem) (names []string, err error) {
	q, _, err := t.Again(ctx, items)
	if err != nil {
		return nil, err
	}
	stored, err := t.stored(ctx)
	for _, p := range q.Items {
		if stored[rowOf(p.TrustItem)] {
			names = append(names, text.Visible(p.Title()))
		}
	}
	return names, err
}

// refused returns the items that were declined, in this run or for good.
func (t *Trust) refused(ctx context.Context) (map[TrustRow]bool, error) {
	all, err := t.stored(ctx)
	t.state.with(func(s *trustState) {
		for r := range s.declined {
			all[r] = true
		}
	})
	return all, err
}

// stored returns the items that were declined for good.
func (t *Trust) stored(ctx context.Context) (map[TrustRow]bool, error) {
	all := map[TrustRow]bool{}
	if t.store == nil {
		return all, nil
	}
	rows, err := t.store.Trusted(ctx)
	if err != nil {
		return all, fmt.Errorf("read trust of %s: %w", t.project, err)
	}
	for _, r := range rows {
		if hash, ok := strings.CutPrefix(r.Hash, refusedMark); ok {
			r.Hash = hash
			all[r] = true
		}
	}
	return all, nil
}

// All returns the items of the question without their history.
func (q TrustQuestion) All() []tools.TrustItem {
	out := make([]tools.TrustItem, len(q.Items))
	for i, p := range q.Items {
		out[i] = p.TrustItem
	}
	return out
}

// Lines renders the question's items for a terminal, with everything hidden made visible.
func (q TrustQuestion) Lines() []string {
	var out []string
	for _, p := range q.Items {
		head := string(p.Kind) + " " + show(p.Name)
		if p.File != "" {
			head += " (" + show(p.File) + ")"
		}
		if p.Changed {
			head += ", changed since you trusted it"
		}
		out = append(out, head)
		for _, r := range p.Runs {
			for line := range strings.Lines(show(r)) {
				out = append(out, "    "+strings.TrimRight(line, "\n"))
			}
		}
	}
	return out
}

// Accept records the approval of items as they were shown: permanently with keep, otherwise for this run.
func (t *Trust) Accept(ctx context.Context, items []tools.TrustItem, keep bool) error {
	rows := make([]TrustRow, 0, len(items))
	for _, i := range items {
		if i.Hash == "" {
			return fmt.Errorf("trust %s %s: it has no hash", i.Kind, i.Name)
		}
		rows = append(rows, rowOf(i))
	}
	if keep && t.store != nil {
		stored := make([]TrustRow, len(rows))
		for i, row := range rows {
			stored[i] = row.confined()
		}
		if err := t.store.AddTrust(ctx, stored...); err != nil {
			return fmt.Errorf("keep trust of %s: %w", t.project, err)
		}
		// A further right is read from the store each time: it can be revoked.
		rows = slices.DeleteFunc(rows, func(r TrustRow) bool { return separate(r.Kind) })
	}
	t.remember(rows, func(s *trustState) *map[TrustRow]bool { return &s.here })
	return nil
}

// Rights lists the further rights that a person gave to programs here, for good: their kind, and whose they are.
func (t *Trust) Rights(ctx context.Context) ([]TrustRow, error) {
	rows, _, err := t.rows(ctx)
	var out []TrustRow
	for _, r := range rows {
		right := TrustRow{Kind: r.Kind, Name: r.Name}
		if separate(r.Kind) && !slices.Contains(out, right) { // one for all versions
			out = append(out, right)
		}
	}
	return out, err
}

// Revoke takes a further right back, in all versions. What runs keeps it until it starts again.
func (t *Trust) Revoke(ctx context.Context, right TrustRow) error {
	if !separate(right.Kind) || t.store == nil {
		return fmt.Errorf("%s is no right that can be revoked", right.Kind)
	}
	found, err := t.store.RemoveTrust(ctx, right.Kind, right.Name)
	if err == nil && !found {
		err = fmt.Errorf("%s was not allowed: %s", right.Name, right.Kind)
	}
	return err
}

// Decline keeps items inert and does not ask about this version of them again: in this run, or with keep at all.
func (t *Trust) Decline(ctx context.Context, items []tools.TrustItem, keep bool) error {
	rows := make([]TrustRow, 0, len(items))
	stored := make([]TrustRow, 0, len(items))
	for _, i := range items {
		rows, stored = append(rows, rowOf(i)), append(stored, rowOf(i).refused())
	}
	t.remember(rows, func(s *trustState) *map[TrustRow]bool { return &s.declined })
	if !keep || t.store == nil {
		return nil
	}
	if err := t.store.AddTrust(ctx, stored...); err != nil {
		return fmt.Errorf("keep the answer about %s: %w", t.project, err)
	}
	return nil
}

// remember adds rows to one of the sets. Readers hold the sets without a lock, so it creates a new one.
func (t *Trust) remember(rows []TrustRow, set func(*trustState) *map[TrustRow]bool) {
	t.state.with(func(s *trustState) {
		next := map[TrustRow]bool{}
		for r := range *set(s) {
			next[r] = true
		}
		for _, r := range rows {
			next[r] = true
		}
		*set(s) = next
	})
}

// Notice says in one line what stays inert when nobody can be asked; "" for nothing.
func (t *Trust) Notice(ctx context.Context, items []tools.TrustItem) (string, error) {
	pending, err := t.pending(ctx, items)
	if err != nil || len(pending) == 0 {
		return "", err
	}
	var names []string
	for _, p := range pending {
		names = append(names, text.Visible(p.Title()))
	}
	return fmt.Sprintf("this folder's files are not trusted, so these do not run: %s. Start jcode here to look at them, or add --trust for one run.", strings.Join(names, ", ")), nil
}
