package catalogue

import (
	"maps"
	"slices"
	"time"
)

// Cheapest returns the cheapest of the models that are known with their window and price, on top of the tables those of
// own, and that of accepts; "" where none is known. Models of the tables whose family has no window are no longer sold
// everywhere, and are not chosen.
func Cheapest(own map[string]Info, of func(id string) bool) (id string) {
	least := 0.0
	consider := func(name string) {
		info, _ := Lookup(name, own)
		if !info.Priced() || info.Window == 0 || !of(name) {
			return
		}
		if asks := info.askedBriefly(); id == "" || asks < least {
			id, least = name, asks
		}
	}
	for i := range prices {
		if p := &prices[i]; priceOf(p.name, time.Now()) == p {
			consider(p.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		consider(name)
	}
	return id
}

// Cheaper reports whether the first of two models costs less than the second; false where a price is unknown.
func Cheaper(id, than string, own map[string]Info) bool {
	a, _ := Lookup(id, own)
	b, _ := Lookup(than, own)
	return a.Priced() && b.Priced() && a.askedBriefly() < b.askedBriefly()
}

// askedBriefly weighs prices by what a question beside a conversation needs: much more input than output.
func (i Info) askedBriefly() float64 { return 10*i.Input + i.Output }
