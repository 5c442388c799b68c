package pdftext

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5" //nolint:gosec // the format's
	"crypto/rc4" //nolint:gosec // the format's
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
)

// crypt decrypts streams. Strings are not decrypted, because no encrypted one is part of a page's
// text.
type crypt struct {
	key  []byte
	how  name // V2, AESV2, AESV3 or Identity
	meta bool // whether metadata is encrypted
}

var padding = [32]byte{
	0x28, 0xbf, 0x4e, 0x5e, 0x4e, 0x75, 0x8a, 0x41, 0x64, 0x00, 0x4e, 0x56, 0xff, 0xfa, 0x01, 0x08,
	0x2e, 0x2e, 0x00, 0xb6, 0xd0, 0x68, 0x3e, 0x80, 0x2f, 0x0c, 0xa9, 0xfe, 0x64, 0x53, 0x69, 0x7a,
}

// newCrypt derives the key from the empty password, as viewers do before they ask for one.
func (f *file) newCrypt(enc dict) (*crypt, error) {
	if filter := f.get(enc["Filter"]); filter != name("Standard") {
		return nil, fmt.Errorf("%w: its kind of encryption is %v", ErrPassword, filter)
	}
	version, revision := f.number(enc["V"], 0), f.number(enc["R"], 0)
	c := &crypt{how: "V2", meta: f.get(enc["EncryptMetadata"]) != false}
	bits := f.number(enc["Length"], 40)
	if version >= 4 {
		c.how = "Identity"
		filter, _ := f.get(enc["StmF"]).(name)
		if cf := f.dict(f.dict(enc["CF"])[filter]); cf != nil {
			c.how, _ = f.get(cf["CFM"]).(name)
		}
		bits = 128
	}
	if version == 1 {
		bits = 40
	}
	if c.how == "Identity" || c.how == "None" {
		return c, nil
	}
	owner, user := f.bytes(enc["O"]), f.bytes(enc["U"])
	if revision >= 5 {
		return c, c.modernKey(revision, user, f.bytes(enc["UE"]))
	}
	var id []byte
	if ids := f.array(f.trailer["ID"]); len(ids) > 0 {
		id = f.bytes(ids[0])
	}
	n := int(bits) / 8
	if n < 5 || n > 16 || len(owner) < 32 || len(user) < 16 {
		return nil, fmt.Errorf("%w: its encryption is damaged", ErrNoPDF)
	}
	c.oldKey(n, revision, owner[:32], int64(f.number(enc["P"], 0)), id)
	if !bytes.Equal(c.check(revision, id)[:16], user[:16]) {
		return nil, ErrPassword
	}
	return c, nil
}

func (f *file) bytes(v any) []byte {
	s, _ := f.get(v).(string)
	return []byte(s)
}

// oldKey derives a key of n bytes as revisions 2 to 4 do.
func (c *crypt) oldKey(n int, revision float64, owner []byte, permissions int64, id []byte) {
	h := md5.New() //nolint:gosec // the format's
	h.Write(padding[:])
	h.Write(owner)
	h.Write(binary.LittleEndian.AppendUint32(nil, uint32(permissions))) //nolint:gosec // 32 bits, signed or not
	h.Write(id)
	if revision >= 4 && !c.meta {
		h.Write([]byte{0xff, 0xff, 0xff, 0xff})
	}
	sum := h.Sum(nil)
	if revision >= 3 {
		for range 50 {
			s := md5.Sum(sum[:n]) //nolint:gosec // the format's
			sum = s[:]
		}
	}
	c.key = sum[:n]
}

// check returns the expected value of U if the key is right; only 16 bytes of it are compared.
func (c *crypt) check(revision float64, id []byte) []byte {
	if revision < 3 {
		return rc4Of(c.key, padding[:])
	}
	h := md5.New() //nolint:gosec // the format's
	h.Write(padding[:])
	h.Write(id)
	sum := h.Sum(nil)
	for i := range 20 {
		key := bytes.Clone(c.key)
		for k := range key {
			key[k] ^= byte(i)
		}
		sum = rc4Of(key, sum)
	}
	return sum
}

func rc4Of(key, data []byte) []byte {
	s, err := rc4.NewCipher(key) //nolint:gosec // the format's
	if err != nil {
		return nil
	}
	out := make([]byte, len(data))
	s.XORKeyStream(out, data)
	return out
}

// modernKey decrypts the key of revisions 5 and 6 in UE.
func (c *crypt) modernKey(revision float64, user, sealed []byte) error {
	if len(user) < 48 || len(sealed) < 32 {
		return fmt.Errorf("%w: its encryption is damaged", ErrNoPDF)
	}
	if !bytes.Equal(modernHash(revision, user[32:40]), user[:32]) {
		return ErrPassword
	}
	block, err := aes.NewCipher(modernHash(revision, user[40:48]))
	if err != nil {
		return err
	}
	c.key = make([]byte, 32)
	cipher.NewCBCDecrypter(block, make([]byte, 16)).CryptBlocks(c.key, sealed[:32])
	return nil
}

// modernHash hashes the empty password with a salt.
func modernHash(revision float64, salt []byte) []byte {
	first := sha256.Sum256(salt)
	k := first[:]
	if revision < 6 {
		return k
	}
	for i := 0; ; i++ {
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil
		}
		data := bytes.Repeat(k, 64)
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(data, data)
		sum := 0
		for _, b := range data[:16] {
			sum += int(b)
		}
		switch sum % 3 {
		case 0:
			s := sha256.Sum256(data)
			k = s[:]
		case 1:
			s := sha512.Sum384(data)
			k = s[:]
		default:
			s := sha512.Sum512(data)
			k = s[:]
		}
		if i >= 63 && int(data[len(data)-1]) <= i-31 {
			return k[:32]
		}
	}
}

// decrypt returns the bytes of a stream of an object.
func (c *crypt) decrypt(data []byte, of ref) []byte {
	key := c.key
	switch c.how {
	case "V2", "AESV2":
		h := md5.New() //nolint:gosec // the format's
		h.Write(key)
		h.Write([]byte{byte(of.num), byte(of.num >> 8), byte(of.num >> 16), byte(of.gen), byte(of.gen >> 8)}) //nolint:gosec // the low bytes
		if c.how == "AESV2" {
			h.Write([]byte("sAlT"))
		}
		key = h.Sum(nil)[:min(16, len(key)+5)]
	case "AESV3":
	default:
		return data
	}
	if c.how == "V2" {
		return rc4Of(key, data)
	}
	block, err := aes.NewCipher(key)
	if err != nil || len(data) < 32 {
		return nil
	}
	iv, body := data[:16], data[16:len(data)/16*16]
	out := make([]byte, len(body))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, body)
	if pad := int(out[len(out)-1]); pad >= 1 && pad <= 16 {
		out = out[:len(out)-pad]
	}
	return out
}
