package ordered

// Object is a JSON object that keeps the order of its members. Names are unique; of several members with the
// same name the last value is kept, at the place of the first. The zero value is empty and ready to use; a
// nil object can be read. Reading is safe for concurrent use.
type Object struct {
	keys  []string
	vals  []any
	index map[string]int // of every key, once there are many
}

// indexFrom is the number of keys from which a map pays off.
const indexFrom = 12

// New returns an object of alternating keys and values.
func New(pairs ...any) *Object {
	o := &Object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// Len returns the number of members; a nil object has none.
func (o *Object) Len() int {
	if o == nil {
		return 0
	}
	return len(o.keys)
}

// Names returns the names of the members in order. The slice must not be changed; later
// changes of the object leave it as it is, or append to it.
func (o *Object) Names() []string {
	if o == nil {
		return nil
	}
	return o.keys
}

// At returns the i-th member.
func (o *Object) At(i int) (key string, value any) { return o.keys[i], o.vals[i] }

func (o *Object) find(key string) int {
	if o == nil {
		return -1
	}
	if o.index != nil {
		if i, ok := o.index[key]; ok {
			return i
		}
		return -1
	}
	for i := len(o.keys) - 1; i >= 0; i-- {
		if o.keys[i] == key {
			return i
		}
	}
	return -1
}

// Get returns the value of key, nil when absent.
func (o *Object) Get(key string) any {
	v, _ := o.Lookup(key)
	return v
}

// Lookup returns the value of key and whether it is there.
func (o *Object) Lookup(key string) (any, bool) {
	if i := o.find(key); i >= 0 {
		return o.vals[i], true
	}
	return nil, false
}

// Set replaces the value of key, or appends the member.
func (o *Object) Set(key string, value any) {
	if i := o.find(key); i >= 0 {
		o.vals[i] = value
		return
	}
	o.add(key, value)
}

// add appends a member without looking for an older one of the same key.
func (o *Object) add(key string, value any) {
	o.keys = append(o.keys, key)
	o.vals = append(o.vals, value)
	if o.index != nil {
		o.index[key] = len(o.keys) - 1
	} else if len(o.keys) >= indexFrom {
		o.reindex()
	}
}

// reindex builds the index, or drops it if a search is as fast.
func (o *Object) reindex() {
	if o.index = nil; len(o.keys) < indexFrom {
		return
	}
	o.index = make(map[string]int, len(o.keys))
	for i, k := range o.keys {
		o.index[k] = i
	}
}

// Delete removes members. A slice that Names returned before stays as it is.
func (o *Object) Delete(names ...string) {
	for _, name := range names {
		if i := o.find(name); i >= 0 {
			o.keys = append(o.keys[:i:i], o.keys[i+1:]...)
			o.vals = append(o.vals[:i:i], o.vals[i+1:]...)
			o.reindex()
		}
	}
}

// Clone returns a shallow copy.
func (o *Object) Clone() *Object {
	c := &Object{}
	if o != nil {
		c.keys, c.vals = append([]string(nil), o.keys...), append([]any(nil), o.vals...)
		c.reindex()
	}
	return c
}

// String returns the string under key, "" when absent or of another type.
func (o *Object) String(key string) string {
	s, _ := o.Get(key).(string)
	return s
}

// Bool returns the boolean under key, false when absent or of another type.
func (o *Object) Bool(key string) bool {
	b, _ := o.Get(key).(bool)
	return b
}

// Number returns the number under key and whether there is one.
func (o *Object) Number(key string) (float64, bool) {
	n, ok := o.Get(key).(float64)
	return n, ok
}

// Child returns the object under key, nil when absent or of another type.
func (o *Object) Child(key string) *Object {
	c, _ := o.Get(key).(*Object)
	return c
}

// MarshalJSON encodes the object as plain JSON in its own order.
func (o *Object) MarshalJSON() ([]byte, error) { return Encoder{}.Encode(o) }
