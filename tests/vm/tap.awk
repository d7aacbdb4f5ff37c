# SPDX-License-Identifier: GPL-2.0-or-later
# Reads what a guest sends: TAP between "### begin TEST" and "### end TEST STATUS SECONDS", and at
# the very end "### done". Shows it with the kernel's name before each line, keeps it in log_file,
# and writes to results a line "result TEST passed failed skipped seconds" a test and, at the very
# end, "finished".

function open_test(name)
{
	test = name
	planned = -1
	passed = failed = skipped = 0
}

# A test that stops early, dies or breaks its plan has failed, even if each of its lines is "ok".
function close_test(status, seconds)
{
	if (failed == 0 && (status != 0 || planned != passed + skipped) && !(planned == 0 && skipped)) {
		failed++
		show("not ok - " test ": status " status ", " (passed + skipped) " of " \
		     (planned < 0 ? "?" : planned) " tests")
	}
	print "result", test, passed, failed, skipped, seconds >>results
	fflush(results)
	test = ""
}

function show(line)
{
	printf "%-10s %s\n", kernel, line
	fflush()
	print line >>log_file
	fflush(log_file)
}

BEGIN { printf "" >results }
{ sub(/\r$/, "") }
$1 == "###" && $2 == "begin" { open_test($3) }
$1 == "###" && $2 == "end" {
	if ($4 == 137)
		show("not ok - " test ": took too long")
	close_test($4, $5)
}
$1 == "###" && $2 == "done" { print "finished" >>results; fflush(results) }
/^1\.\.0/ && test { planned = 0; skipped++ }
/^1\.\.[1-9]/ && test { planned = substr($1, 4) + 0 }
/^not ok/ && test { failed++ }
/^ok/ && test {
	if ($0 ~ /# *[Ss][Kk][Ii][Pp]/)
		skipped++
	else
		passed++
}
/^Bail out!/ && test { failed++ }
{ show($0) }
END {
	if (test) {
		show("not ok - " test ": the guest ended in it")
		failed++
		print "result", test, passed, failed, skipped, 0 >>results
	}
}
