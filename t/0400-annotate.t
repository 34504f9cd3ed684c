#!/bin/sh
# annotate: totals, functions, sources, warnings

. t/lib.sh

A=$B/annotate
cd "$T" || exit 99

# a profile with one of each: known lines, line 0, lines past the end, a file
# that is not there, a newer one, no file at all
seq 1 30 | sed 's/^/line /' >a.c
seq 1 3 | sed 's/^/inc /' >a.h
echo new >new.c
cat >prof <<'EOF'
desc: made by hand
cmd: prog arg
events: Ir Dr Dw
fl=a.c
fn=main
0 100 10 0
5 5000 400 0
6 4000 0 3
20 1000 0 0
fn=help
28 500 5 1
fl=a.h
fn=main
2 300 0 0
7 40 1 0
fl=gone.c
fn=main
1 60 0 0
fl=new.c
fn=main
1 50 0 0
fl=small.c
fn=tiny
1 1 0 0
fl=???
fn=???
0 49 4 6
summary: 11100 420 10
EOF
touch -d '2020-01-01' a.c a.h
touch -d '2020-01-02' prof
"$A" --context=2 prof >report
ok "reports" $?
same "the command of one file has no number, that of two has" \
    "Command: prog arg
Command 1: prog arg
Command 2: (same as Command 1)" "$( (cat report; "$A" --no-annotate prof prof) |
    sed -n '/^Command/s/  */ /gp')"
sed 1,11d report >got
cat >want <<'EOF'

--------------------------------------------------------------------------------
-- Summary
--------------------------------------------------------------------------------
Ir_____________ Dr__________ Dw_________ 

11,100 (100.0%) 420 (100.0%) 10 (100.0%)  PROGRAM TOTALS

--------------------------------------------------------------------------------
-- File:function summary
--------------------------------------------------------------------------------
  Ir____________________ Dr_________________ Dw_______________  file:function

< 10,600 (95.5%,  95.5%) 415 (98.8%,  98.8%) 4 (40.0%,  40.0%)  a.c:
  10,100 (91.0%)         410 (97.6%)         3 (30.0%)            main
     500  (4.5%)           5  (1.2%)         1 (10.0%)            help

<    340  (3.1%,  98.6%)   1  (0.2%,  99.0%) 0  (0.0%,  40.0%)  a.h:main

<     60  (0.5%,  99.1%)   0  (0.0%,  99.0%) 0  (0.0%,  40.0%)  gone.c:main

<     50  (0.5%,  99.5%)   0  (0.0%,  99.0%) 0  (0.0%,  40.0%)  new.c:main

<     49  (0.4%, 100.0%)   4  (1.0%, 100.0%) 6 (60.0%, 100.0%)  ???:???

--------------------------------------------------------------------------------
-- Function:file summary
--------------------------------------------------------------------------------
  Ir____________________ Dr_________________ Dw_______________  function:file

> 10,550 (95.0%,  95.0%) 411 (97.9%,  97.9%) 3 (30.0%,  30.0%)  main:
  10,100 (91.0%)         410 (97.6%)         3 (30.0%)            a.c
     340  (3.1%)           1  (0.2%)         0                    a.h
      60  (0.5%)           0                 0                    gone.c
      50  (0.5%)           0                 0                    new.c

>    500  (4.5%,  99.5%)   5  (1.2%,  99.0%) 1 (10.0%,  40.0%)  help:a.c

>     49  (0.4%, 100.0%)   4  (1.0%, 100.0%) 6 (60.0%, 100.0%)  ???:???

--------------------------------------------------------------------------------
-- Annotated source file: a.c
--------------------------------------------------------------------------------
Ir___________ Dr_________ Dw_______ 

  100  (0.9%)  10  (2.4%) 0          <unknown (line 0)>

-- line 3 ----------------------------------------
    .           .         .          line 3
    .           .         .          line 4
5,000 (45.0%) 400 (95.2%) 0          line 5
4,000 (36.0%)   0         3 (30.0%)  line 6
    .           .         .          line 7
    .           .         .          line 8
-- line 8 ----------------------------------------
-- line 18 ----------------------------------------
    .           .         .          line 18
    .           .         .          line 19
1,000  (9.0%)   0         0          line 20
    .           .         .          line 21
    .           .         .          line 22
-- line 22 ----------------------------------------
-- line 26 ----------------------------------------
    .           .         .          line 26
    .           .         .          line 27
  500  (4.5%)   5  (1.2%) 1 (10.0%)  line 28
    .           .         .          line 29
    .           .         .          line 30
-- line 30 ----------------------------------------

--------------------------------------------------------------------------------
-- Annotated source file: a.h
--------------------------------------------------------------------------------
Ir________ Dr______ Dw 

  .        .         .  inc 1
300 (2.7%) 0         0  inc 2
  .        .         .  inc 3

 40 (0.4%) 1 (0.2%)  0  <bogus line 7>

@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@@ WARNING @@ WARNING @@ WARNING @@ WARNING @@ WARNING @@ WARNING @@ WARNING @@
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@@ Information recorded about lines past the end of 'a.h'.
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@

--------------------------------------------------------------------------------
-- Annotated source file: new.c
--------------------------------------------------------------------------------
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@@ WARNING @@ WARNING @@ WARNING @@ WARNING @@ WARNING @@ WARNING @@ WARNING @@
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@ Original source files are all newer than data file 'prof':
@ - new.c
@ Annotations may not be correct.
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@

Ir_______ Dr Dw 

50 (0.5%)  0  0  new

--------------------------------------------------------------------------------
-- Unannotated source files
--------------------------------------------------------------------------------
Unannotated because these original files are unreadable:
- gone.c

--------------------------------------------------------------------------------
-- Annotation summary
--------------------------------------------------------------------------------
Ir____________ Dr_________ Dw_______ 

10,890 (98.1%) 406 (96.7%) 4 (40.0%)    annotated: files known & above threshold & readable, line numbers known
   100  (0.9%)  10  (2.4%) 0            annotated: files known & above threshold & readable, line numbers unknown
     0           0         0          unannotated: files known & above threshold & two or more non-identical
    60  (0.5%)   0         0          unannotated: files known & above threshold & unreadable 
     1  (0.0%)   0         0          unannotated: files known & below threshold
    49  (0.4%)   4  (1.0%) 6 (60.0%)  unannotated: files unknown

EOF
samefile "the report" want got

gzip -c prof >prof.gz
touch -d '2020-01-02' prof.gz
"$A" --context=2 prof.gz | sed '1,11d; s/prof.gz/prof/' >got
samefile "gzipped input" want got
check "standard input" "$A" --auto=no - <prof
same "totals from standard input" "11,100 (100.0%) 420 (100.0%) 10 (100.0%)  PROGRAM TOTALS" \
    "$(grep TOTALS out)"
check "several files are added up" "$A" --no-annotate prof prof
same "totals of two" "22,200 (100.0%) 840 (100.0%) 20 (100.0%)  PROGRAM TOTALS" \
    "$(grep TOTALS out)"

check "--show, --sort" "$A" --no-annotate --show=Dw,Ir --sort=Dw --show-percs=no prof
same "--sort: first is what writes most" "<  6     49  ???:???" "$(grep '^<' out | head -n 1)"
check "thresholds of events" "$A" --no-annotate --sort=Ir:90,Dw:25 prof
same "thresholds of events: who is left" "10,100 49" \
    "$(sed -n '/File:fun/,/Function:file/p' out |
    awk '/main$/ { print $1 } /\?\?\?:/ { print $2 }' | xargs)"
mkdir -p else/where && mv a.c else/where/
check "-I" "$A" -I nothing -I else/where prof
same "-I: found there" 1 "$(grep -c 'source file: a.c (else/where/a.c)' out)"

# nothing but text, unless asked for
same "no colour in a file" 0 "$("$A" prof | grep -c "$(printf '\033')")"
check "colour" "$A" --color=always prof
check "colour: is there" grep -q "$(printf '\033')\[1;31m" out

# parts whose events have another order
cat >ordered <<'EOF'
# callgrind format
events: Ir Dr
summary: 10 1
fl=a.c
fn=f
1 10 1
totals: 10 1
EOF
sed '1d; s/Ir Dr/Dr Ir/; s/10 1$/2 20/' ordered | cat ordered - >parts
check "parts of another order, --layout=old" "$A" --layout=old parts
same "parts of another order: totals" "30 (100.0%) 3 (100.0%) PROGRAM TOTALS" \
    "$(grep TOTALS out | xargs)"

# trouble
status 2 "unknown option" "$A" --nothing
for o in asm color layout tree; do
	status 2 "--$o: an unknown word" "$A" --$o=odd prof
	check "--$o: is told, with those that it takes" grep -qE \
	    "^annotate: --$o=odd: .* n?or " err
done
status 2 "--inclusive: an unknown word" "$A" --inclusive=odd prof
same "--inclusive: is told" "annotate: --inclusive: \`odd' is neither yes nor no" "$(cat err)"
status 2 "unknown event" "$A" --sort=Xx prof
same "unknown event: message" "annotate: --sort: event Xx is not in the profile" "$(cat err)"
status 2 "a threshold that is no number" "$A" --sort=Ir:nan prof
status 2 "a list that ends with a comma" "$A" --sort=Ir, prof
printf '%s\n' 'events: Ir' 'event: A = 2000000000 Ir' \
    'event: B = 2000000000 A' 'event: C = 4 B' fl=a fn=f '1 1' 'summary: 1' >far
status 0 "a formula beyond 64 bits" "$A" --no-annotate far
same "a formula beyond 64 bits: told, and not shown" \
    "annotate: event C: cannot use the formula 4 B; Ir A B" \
    "$(cat err); $(sed -n 's/^Events shown: *//p' out)"
status 2 "no such file" "$A" nothing
sed '$d' prof >cut
status 2 "no end mark: shown, with a warning" "$A" --no-annotate cut
same "no end mark: warning" "annotate: cut:27: truncated: no summary: line" "$(cat err)"
check "no end mark: totals" grep -q '^11,100' out
gzip -c prof | head -c 150 >cut.gz
status 2 "compressed, and cut: shown" "$A" --no-annotate cut.gz
check "compressed, and cut: totals" grep -q 'PROGRAM TOTALS' out
cat >raw <<'EOF'
# callgrind format
positions: instr
events: Ir
ob=/bin/prog
fl=???
fn=???
0x10 7
summary: 7
EOF
check "addresses alone: shown" "$A" --no-annotate raw
same "addresses alone: what names them" "annotate: raw: has addresses without functions: fmt-cachegrind finds their names" "$(cat err)"
sed 's/^fn=.*/fn=main/' raw >named
check "addresses with functions" "$A" --no-annotate named
same "addresses with functions: no warning" "" "$(cat err)"
status 2 "no room" sh -c '"$0" prof >/dev/full' "$A"
sed 's/ Dw$//; s/\( [0-9]*\) [0-9]*$/\1/' prof >other
status 2 "other events" "$A" prof other
same "other events: message" "annotate: other:4: the events are not those of prof" "$(cat err)"

printf 'events: Ir\nsummary: 0\n' >none
check "no costs at all" "$A" none
check "no costs at all, --html" "$A" --html=none.html none
check "no costs at all, --layout=old" "$A" --layout=old none
printf 'events: Ir\nfn=f\n1 3\nsummary: 3\n' >none
check "no file" "$A" none

done_testing
