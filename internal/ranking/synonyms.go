package ranking

import "strings"

// synonyms are words that people use for one thing when they write about programs, a group a line. A word with an
// underscore stands for several words. What is said in one group only in one sense is still a hint: related words
// count less than those of the question.
const synonyms = `
delete remove erase drop discard clear purge wipe unlink uninstall get_rid throw_away clean_up prune
stop end quit exit terminate kill abort cancel halt interrupt shutdown shut_down turn_off break_off switch_off
start begin launch run execute invoke open spawn turn_on switch_on boot set_off
resume continue go_on carry_on
pause suspend wait sleep delay block hold
forbid deny disallow refuse reject prevent prohibit ban never block
allow permit grant accept approve authorize let
undo revert rollback restore rewind roll_back go_back put_back take_back
redo repeat again retry try_again
repeat tick periodic interval recurring regularly every
undo before earlier previous former
create make new add generate produce build set_up
add append insert attach push put_in
join concatenate combine merge concat unite connect put_together
split divide separate cut tokenize partition break_up take_apart
change modify alter update edit adjust mutate replace
replace substitute swap exchange
rename move relocate
copy clone duplicate
compare equal same identical match differ
difference diff delta change
find search look locate seek lookup query look_up look_for find_out
show display print list view see render present
hide conceal mask omit suppress
save store keep persist write record retain remember
load read fetch get retrieve obtain open
send transmit post deliver publish emit write
receive accept get read
ask question prompt query request inquire
answer reply response respond result
use employ apply utilize consume
choose select pick prefer decide
check verify validate test examine inspect ensure make_sure
fix repair mend correct resolve heal
fail failure error fault problem wrong mistake break
crash panic fatal die abort
recover rescue survive
bug defect issue
limit bound maximum cap max upper ceiling quota most at_most
minimum least lower floor min at_least
timeout deadline expire time_limit give_up
time clock duration hour minute second moment
date day calendar month year
zone location timezone offset
often frequency count number times
count tally number_of how_many occurrences
size length long big large extent
small little short tiny brief
smaller compress shrink reduce squeeze deflate zip pack
bigger grow expand decompress inflate unpack enlarge
fast quick quickly rapid speed performance efficient
slow lag latency sluggish
cost price money spend budget expense pay charge usd dollars
token usage quota
empty blank nothing none null nil zero missing
blank space whitespace spaces
trim strip leading trailing
begin prefix leading first start
end suffix trailing last final
first initial
last latest newest recent
once single exactly_once one_time only_once
all every each whole entire complete total
part piece portion section fragment chunk segment
list slice array sequence collection items
ordered sorted order sort arrange ascending
random shuffle chance
unique distinct duplicate dedupe
map dictionary table hash associative
set group collection
element item entry member value
key name identifier id
value content data
number integer int numeric digit decimal float
text string characters letters
letter character rune byte
uppercase capital case upper lower lowercase
ignoring insensitive regardless fold
format layout pattern template
convert transform translate parse turn_into cast
parse decode read interpret unmarshal deserialize
encode marshal serialize write format
escape quote sanitize
encrypt cipher encode secret
decrypt decipher
hash checksum digest sum fingerprint
random entropy nonce
password secret credential passphrase key token
key token credential api_key secret
login sign_in log_in authenticate authentication signin signing
logout sign_out log_out
user person people human you
account subscription plan
private confidential incognito secret
public shared open
share common global shared everywhere
trust believe confirm
safe secure protect guard security
protect guard lock mutex synchronize mutual
simultaneous concurrent parallel race same_time at_once together
thread goroutine worker routine task
worker agent helper assistant sub-agent subagent
assistant model agent ai llm bot
model llm
wait block await join
lock mutex exclusive
channel queue pipe stream
signal notify event message notification
hook callback handler trigger event
event happening occurrence
handle process deal
error exception
log record journal trace
debug diagnose trace investigate
metric statistic measure figure
file document
folder directory dir path
path name location
parent above ancestor
child below sub nested
tree recursive hierarchy subtree
root top
link symlink shortcut
shortcut keybinding key command alias
button key press
keyboard key keys type
permission right access mode privilege
owner belong
disk storage drive filesystem
memory ram
temporary temp tmp scratch
backup snapshot copy
version release revision
install setup deploy set_up
upgrade update newer
configure configuration setting option preference config set_up
default preset standard fallback usual
option flag argument parameter switch
argument parameter input
variable environment env
rule policy instruction guideline convention
instruction guideline prompt
project repository repo workspace codebase
machine computer host device system
remote elsewhere another_machine network distant
local own here
server service daemon host
client consumer caller
web http html browser internet
browser page
address url uri link
request call query
response reply answer
connection socket link dial
listen serve accept
gracefully graceful orderly drain
active running live in_progress
idle unused inactive
reuse pool keep_alive recycle
cache store remember memoize
download fetch retrieve get
upload send push
proxy gateway relay
certificate tls ssl https
firewall block
database sql table store
row record line tuple
column field
transaction commit
query select
index catalogue
search find grep lookup
line row
read_line scanner scan line_by_line
word term token
sentence paragraph text
heading title caption
table grid columns
chart graph plot
picture image photo screenshot graphic
sound audio
screen terminal display window console
window tab pane screen
terminal console shell tty
shell command bash
command program executable binary tool
program application app software tool process
script automation pipeline batch
pipeline ci workflow automation
editor ide vscode
plugin extension addon add-on module
language dialect
code source program
function method procedure routine
type kind class sort
interface contract protocol
protocol api interface
package module library
test check spec
chat conversation session talk dialogue
talk chat speak converse say
message text mail note
note memo reminder remember
history past earlier previous
summary overview compact digest abstract shorten
manual handbook documentation docs guide documents
help guide support explain
example sample demo
tutorial walkthrough introduction
hint tip advice suggestion
warning caution alert
license copyright
price cost
simple easy plain
hard difficult complex
automatic automatically by_itself unasked alone
manual manually by_hand
background asynchronous async behind
foreground synchronous
schedule cron plan timer
timer ticker interval alarm
plan intention todo
todo task job
job work task
team colleagues group organisation company
review inspect audit feedback
commit check_in
branch worktree fork
worktree checkout working_tree
conflict collide clash contradiction
merge integrate
exit_code status return_code
output result stdout print
input stdin entry
pipe stream redirect
stream flow continuous
buffer buffered cache
byte octet
round nearest approximate
absolute full
relative partial
inside within in
outside beyond out
sandbox confine isolate jail container
container docker image pod
colour color theme appearance
dark light theme
font size
language locale translation
accessible accessibility screen_reader
mouse click
clipboard paste copy
`

// related calls fn for the words that mean much the same as what begins a list of words, and how many words of the list
// that is.
func related(words []string, fn func(word string, of int)) {
	if len(words) == 0 || len(words[0]) < 2 {
		return
	}
	stem := Stem(words[0])
	for group := range strings.SplitSeq(synonyms, "\n") {
		if !strings.Contains(group, stem[:min(len(stem), 3)]) { // most groups
			continue
		}
		of := 0
		for word := range strings.SplitSeq(group, " ") {
			of = max(of, begins(words, word))
		}
		if of == 0 {
			continue
		}
		for word := range strings.SplitSeq(group, " ") {
			if begins(words, word) == 0 {
				fn(word, of)
			}
		}
	}
}

// begins returns how many words of a list a word of a group stands for, 0 if the list does not begin with it.
func begins(words []string, word string) int {
	n := 0
	for part := range strings.SplitSeq(word, "_") {
		if n >= len(words) || Stem(part) != Stem(words[n]) {
			return 0
		}
		n++
	}
	return n
}
