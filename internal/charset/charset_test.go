package charset_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"jcode/internal/charset"
)

func TestTextOfEveryUsualEncodingIsRead(t *testing.T) {
	const (
		french   = "Le déploiement se fait à midi. Les clés sont déposées près de l'entrée.\n"
		japan    = "配備は正午に行われます。鍵は入口の近くにあります。\n"
		russian  = "Развёртывание проходит в полдень. Ключи лежат у входа.\n"
		chinese  = "部署在中午进行。钥匙在入口附近。\n"
		taiwan   = "部署在中午進行。鑰匙在入口附近。\n"
		korea    = "배포는 정오에 진행됩니다. 열쇠는 입구 근처에 있습니다.\n"
		polish   = "Wdrożenie odbywa się w południe. Klucze leżą przy wejściu.\n"
		czech    = "Nasazení proběhne v poledne. Klíče jsou u vchodu. Žádné změny, prosím.\n"
		greek    = "Η εγκατάσταση γίνεται το μεσημέρι. Τα κλειδιά είναι κοντά στην είσοδο.\n"
		little   = unicode.LittleEndian
		big      = unicode.BigEndian
		useBOM   = unicode.UseBOM
		unmarked = unicode.IgnoreBOM
	)
	for name, c := range map[string]struct {
		encoding encoding.Encoding
		text     string
	}{
		"UTF-8": {unicode.UTF8, japan}, "UTF-8 with a mark": {unicode.UTF8BOM, french},
		"UTF-16 LE": {unicode.UTF16(little, useBOM), japan}, "UTF-16 BE": {unicode.UTF16(big, useBOM), french},
		"UTF-16 LE, no mark": {unicode.UTF16(little, unmarked), french}, "UTF-16 BE, no mark": {unicode.UTF16(big, unmarked), french},
		"UTF-16 LE, no mark, Japanese": {unicode.UTF16(little, unmarked), japan}, "UTF-16 BE, no mark, Japanese": {unicode.UTF16(big, unmarked), japan},
		"windows-1252": {charmap.Windows1252, french}, "Latin-1": {charmap.ISO8859_1, french}, "a short one": {charmap.Windows1252, "Café crème\n"},
		"Shift-JIS": {japanese.ShiftJIS, japan}, "EUC-JP": {japanese.EUCJP, japan}, "GBK": {simplifiedchinese.GBK, chinese},
		"Big5": {traditionalchinese.Big5, taiwan}, "EUC-KR": {korean.EUCKR, korea},
		"windows-1251": {charmap.Windows1251, russian}, "KOI8-R": {charmap.KOI8R, russian},
		"ISO 8859-2": {charmap.ISO8859_2, polish}, "windows-1250": {charmap.Windows1250, czech}, "ISO 8859-7": {charmap.ISO8859_7, greek},
	} {
		data, err := c.encoding.NewEncoder().Bytes([]byte(c.text))
		if err != nil {
			t.Fatal(name, err)
		}
		if got, as := charset.Decode(data); got != c.text {
			t.Errorf("%s: read as %s: %q, want %q", name, as, got, c.text)
		}
	}
}

func TestDamagedUTF8StaysUTF8(t *testing.T) {
	if got, as := charset.Decode([]byte("Grüße aus Köln \xff und Düsseldorf")); got != "Grüße aus Köln \ufffd und Düsseldorf" || as != charset.UTF8 {
		t.Errorf("read as %s: %q", as, got)
	}
}

func TestWhatIsNoTextIsBinary(t *testing.T) {
	noise := ""
	for i := range 200 {
		sum := sha256.Sum256([]byte{byte(i)})
		noise += string(sum[:])
	}
	for name, data := range map[string]string{
		"noise": noise, "a program": "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00" + noise, "zeros": strings.Repeat("\x00", 1000),
		"a picture": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + noise, "marked": "\xef\xbb\xbf" + noise,
	} {
		if got, as := charset.Decode([]byte(data)); as != charset.Binary {
			t.Errorf("%s: read as %s: %.40q", name, as, got)
		}
	}
}
