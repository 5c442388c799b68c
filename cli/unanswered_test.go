package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/cli"
	"jcode/cli/console"
	"jcode/internal/testkit/modeltest"
)

// once runs jcode with a home of its own, and returns what it wrote.
func once(t *testing.T, home string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	env := map[string]string{"JCODE_HOME": home, "HOME": home}
	code = cli.Main(args, cli.Streams{Streams: console.Streams{In: strings.NewReader(""), Out: &o, Err: &e, Getenv: func(k string) string { return env[k] }}})
	return code, o.String(), e.String()
}

func TestATurnWithoutAWholeAnswerEndsWithItsOwnExitCode(t *testing.T) {
	t.Chdir(t.TempDir())
	called := modeltest.Calls(modeltest.Call{Name: "ls", Args: `{"path":"."}`})
	for name, c := range map[string]struct {
		replies []modeltest.Reply
		code    int
		says    string
	}{
		"an answer":               {[]modeltest.Reply{modeltest.Text("Done.")}, 0, ""},
		"cut":                     {[]modeltest.Reply{modeltest.Text("Half of").Finish("length")}, 5, "output limit"},
		"refused":                 {[]modeltest.Reply{modeltest.Text("").Finish("content_filter")}, 5, "refused"},
		"empty":                   {[]modeltest.Reply{modeltest.Text("")}, 5, "empty"},
		"empty after work":        {[]modeltest.Reply{called, modeltest.Text("")}, 0, ""},
		"cut after work all same": {[]modeltest.Reply{called, modeltest.Text("Half of").Finish("length")}, 5, "output limit"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := modeltest.New(t, c.replies...)
			code, out, errs := once(t, t.TempDir(), "-p", "x", "-m", "m", "--base-url", srv.URL(), "--output-format", "json")
			var res struct {
				OK    bool   `json:"ok"`
				Error string `json:"error"`
			}
			if err := json.Unmarshal([]byte(out), &res); err != nil {
				t.Fatalf("%v: %s %s", err, out, errs)
			}
			if code != c.code || res.OK != (c.code == 0) || !strings.Contains(res.Error, c.says) || strings.Contains(errs, "/continue") {
				t.Errorf("exit %d: %+v %s", code, res, errs)
			}
		})
	}
}

func TestModelsUpdateReadsATableAndPricesFollowIt(t *testing.T) {
	t.Chdir(t.TempDir())
	home := t.TempDir()
	if code, _, errs := once(t, home, "models", "update"); code != 2 || !strings.Contains(errs, "update.models") {
		t.Errorf("without a source: exit %d, %s", code, errs)
	}
	table := filepath.Join(t.TempDir(), "prices.json")
	if err := os.WriteFile(table, []byte(`{"date":"2026-11-28","source":"a page","models":[{"id":"gpt-7","input":3,"output":15}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := once(t, home, "models", "openai/gpt-7"); code != 0 || !strings.Contains(out, "openai/gpt-7: price unknown") {
		t.Errorf("before: exit %d, %s %s", code, out, errs)
	}
	if code, out, errs := once(t, home, "models", "update", table); code != 0 || !strings.Contains(out, "1 model, read on 2026-11-28 from a page") {
		t.Errorf("exit %d, %s %s", code, out, errs)
	}
	if code, out, errs := once(t, home, "models", "openai/gpt-7", "gpt-7-pro"); code != 0 || !strings.Contains(out, "openai/gpt-7: $3 in") || !strings.Contains(out, "gpt-7-pro: price unknown") {
		t.Errorf("after: exit %d, %s %s", code, out, errs)
	}
	if err := os.WriteFile(table, []byte(`{"date":"2026-11-28","source":"a page","models":[{"id":"gpt-7","input":3}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := once(t, home, "models", "update", table); code != 2 || !strings.Contains(errs, "models[0] (gpt-7)") {
		t.Errorf("a wrong table: exit %d, %s", code, errs)
	}
}

func TestAnUnknownPriceIsNoPrice(t *testing.T) {
	t.Chdir(t.TempDir())
	home := t.TempDir()
	srv := modeltest.New(t, modeltest.Text("Done."))
	_, _, errs := once(t, home, "-p", "x", "-m", "gpt-9-pro", "--base-url", srv.URL(), "--max-cost", "1")
	if strings.Count(errs, "the price of gpt-9-pro is unknown") != 1 {
		t.Errorf("%s", errs)
	}
	code, out, _ := once(t, home, "usage", "--json", "--by", "model")
	if code != 0 || !strings.Contains(strings.ReplaceAll(out, " ", ""), `"cost_usd":null`) || !strings.Contains(strings.ReplaceAll(out, " ", ""), `"unpriced_requests":1`) {
		t.Errorf("%s", out)
	}
}
