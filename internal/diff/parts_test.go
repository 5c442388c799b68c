package diff

import (
	"strings"
	"testing"
)

// Every choice of hunks gives the old lines where a hunk was left out and the new ones where it was taken.
func TestHunksAreTakenOneByOne(t *testing.T) {
	t.Parallel()
	lines := func(change map[int]string, n int) string {
		var b strings.Builder
		for i := range n {
			if s, ok := change[i]; ok {
				b.WriteString(s)
				continue
			}
			b.WriteString(strings.Repeat("x", i) + "\n")
		}
		return b.String()
	}
	changes := []map[int]string{
		{2: "", 20: "new\nnewer\n", 39: "end without a break"},
		{0: "@@ first\n--- x\n", 15: "", 30: "+++ y\n"},
	}
	for _, change := range changes {
		old, now := lines(nil, 40), lines(change, 40)
		parts := Parts(Files("a.txt", &old, &now).Text)
		if len(parts) != 3 {
			t.Fatalf("%d hunks", len(parts))
		}
		for bits := range 8 {
			want := map[int]string{}
			i := 0
			for at := range 40 {
				if s, ok := change[at]; ok {
					if bits>>i&1 == 1 {
						want[at] = s
					}
					i++
				}
			}
			got, ok := Take(old, now, parts, func(i int) bool { return bits>>i&1 == 1 })
			if !ok || got != lines(want, 40) {
				t.Errorf("hunks %03b:\n%s\nwant\n%s", bits, got, lines(want, 40))
			}
		}
	}
}

func TestHunksOfAFileThatIsNewAndOfOneThatGoes(t *testing.T) {
	t.Parallel()
	text := "a\nb\n"
	for _, d := range []Diff{Files("f", nil, &text), Files("f", &text, nil)} {
		parts := Parts(d.Text)
		if len(parts) != 1 || parts[0].Name != "f" || parts[0].Added+parts[0].Removed != 2 {
			t.Errorf("%+v of\n%s", parts, d.Text)
		}
	}
	long, longer := strings.Repeat("0123456789\n", 40000), strings.Repeat("012345678\n", 40000)
	if parts := Parts(Files("f", &long, &longer).Text); parts != nil {
		t.Errorf("%d hunks of a diff that was cut", len(parts))
	}
}
