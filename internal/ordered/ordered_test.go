package ordered_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"jcode/internal/ordered"
)

func TestJSONComesBackInItsOwnOrder(t *testing.T) {
	t.Parallel()
	const text = `{"z":1.50,"a":{"y":[true,null,"\u2028<&>"],"b":12345678901234567890},"":-0}`
	v, err := ordered.Decoder{Numbers: true}.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := ordered.Encoder{}.Encode(v)
	if want := strings.ReplaceAll(text, `\u2028`, "\u2028"); err != nil || string(raw) != want {
		t.Errorf("%s %v", raw, err)
	}
	raw, err = ordered.Encoder{Sorted: true}.Encode(v)
	if err != nil || !strings.HasPrefix(string(raw), `{"":-0,"a":{"b":`) {
		t.Errorf("sorted: %s %v", raw, err)
	}
	if raw, err := json.Marshal(v); err != nil || !json.Valid(raw) {
		t.Errorf("through encoding/json: %s %v", raw, err)
	}
}

// An object with a dozen members or more has an index, which must not change its behaviour.
func TestObjectsOfAnySizeBehaveAlike(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 11, 12, 13, 40} {
		o := &ordered.Object{}
		var want []string
		for i := range size {
			name := fmt.Sprint("k", i)
			o.Set(name, i)
			want = append(want, name)
		}
		o.Set("k0", "new")
		if o.Len() != size || o.String("k0") != "new" || !slices.Equal(o.Names(), want) {
			t.Errorf("%d: %q", size, o.Names())
		}
		whole := o.Clone()
		for _, name := range o.Names() { // iterates over the earlier members
			o.Delete(name, "absent")
			if _, has := o.Lookup(name); has {
				t.Errorf("%d: %s is still there", size, name)
			}
		}
		if o.Len() != 0 || !slices.Equal(whole.Names(), want) || whole.Get(want[size-1]) == nil {
			t.Errorf("%d: %q left, the copy has %q", size, o.Names(), whole.Names())
		}
		o.Set("x", o)
		if o.Child("x") != o || o.Child("y") != nil {
			t.Errorf("%d: child", size)
		}
	}
}

func TestANilObjectIsEmpty(t *testing.T) {
	t.Parallel()
	var o *ordered.Object
	if _, has := o.Lookup("a"); has || o.Len() != 0 || o.Get("a") != nil || o.Child("a") != nil || o.Names() != nil || o.Clone().Len() != 0 {
		t.Error("a nil object holds something")
	}
}

func TestObjectsAreReadConcurrently(t *testing.T) {
	t.Parallel()
	o := &ordered.Object{}
	for i := range 100 {
		o.Set(fmt.Sprint(i), i)
	}
	o.Delete("5")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if o.Get("99") != 99 || o.Get("5") != nil {
				t.Error("a member is missing")
			}
		})
	}
	wg.Wait()
}

func TestLimitsOfADecoderAreNamed(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	for want, d := range map[string]ordered.Decoder{
		"nested deeper than 200": {}, "nested deeper than 3": {MaxDepth: 3}, "more than 7 values": {MaxDepth: 1000, MaxNodes: 7},
	} {
		_, err := d.Decode([]byte(deep))
		var bad *ordered.SyntaxError
		if !errors.As(err, &bad) || bad.Offset == 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := (ordered.Decoder{MaxDepth: 1000}).Decode([]byte(deep)); err != nil {
		t.Error(err)
	}
}

// The decoder accepts what encoding/json accepts, with equal values, and refuses the rest.
func FuzzDecodesAsEncodingJSONDoes(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":null}],"a":"\ud83d\ude00"}`, `"\ud800 \u0041"`, `[1e5,-0.0,true]`, "\"\xff\"", `{"a":1,}`, `01`, `1 2`, "[\n]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want any
		wantErr := json.Unmarshal(data, &want)
		got, err := ordered.Decoder{MaxDepth: 20_000}.Decode(data)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v, encoding/json %v", data, err, wantErr)
		}
		if err != nil {
			return
		}
		plain, err := ordered.Encoder{MaxDepth: 20_000, Sorted: true}.Encode(got)
		var again any
		if err != nil || json.Unmarshal(plain, &again) != nil || !reflect.DeepEqual(again, want) {
			t.Fatalf("%q: %s %v", data, plain, err)
		}
	})
}
