# mnemonics COSTS: executions by mnemonic, by what objdump says of the bytes
#
# COSTS has a column Ir by address, positions: instr. objdump's names are made
# those of Intel's manual that Zydis uses: jz for je, stosq for stos QWORD.
use strict;
use warnings;

my %cc = (e => 'z', ne => 'nz', a => 'nbe', ae => 'nb', g => 'nle',
    ge => 'nl', c => 'b', nc => 'nb', pe => 'p', po => 'np');
my %same = (movabs => 'mov', sal => 'shl', fwait => 'wait', int3 => 'int3',
    retq => 'ret', xchgax => 'nop');
my %width = (BYTE => 'b', WORD => 'w', DWORD => 'd', QWORD => 'q');

sub name {
	my ($text) = @_;
	1 while $text =~ s/^(?:rep\w*|bnd|lock|notrack|data16|addr32|rex\S*|
	    [cdefgs]s|xacquire|xrelease)\s+//x;
	my ($name, $rest) = $text =~ /^(\S+)\s*(.*)/ or return '(bad)';
	return 'nop' if $name eq 'xchg' && $rest =~ /^ax,ax/;
	return $1 . ($cc{$2} // $2) if $name =~ /^(j|set|cmov)([a-z]+)$/ &&
	    $name !~ /^(jmp|jrcxz|jecxz)$/;
	return $1 . $width{$2} if
	    "$name $rest" =~ /^(stos|movs|cmps|scas|lods) .*?\b(\w+) PTR/;
	return "$1$2" if $name =~ /^(v?p?cmp)(?:eq|lt|le|unord|neq|nlt|nle|ord|
	    false|true|ge|gt|nge|ngt)(?:_\w+?)?(u?[bwdq]|[ps][sd])$/x &&
	    !($name =~ /^v?pcmp(?:eq|gt)[bwdq]$/);
	return 'pclmulqdq' if $name =~ /^pclmul/;
	return 'vpclmulqdq' if $name =~ /^vpclmul/;
	return $same{$name} // $name;
}

my ($object, $addr, %count, %sum) = ('', 0);
my @ob;
open my $in, '<', $ARGV[0] or die;
while (<$in>) {
	if (/^ob=\((\d+)\)(?: (.*))?/) {
		$ob[$1] = $2 if defined $2;
		$object = $ob[$1];
	} elsif (/^(\+|-|\*|0x)([0-9a-fx]*) ?(\d*)/) {
		my $n = $1 eq '0x' ? hex $2 : $1 eq '*' ? $addr :
		    $addr + ($1 eq '-' ? -1 : 1) * ($2 =~ /x/ ? hex $2 : $2);
		$addr = $n;
		$count{$object}{$n} += $3 || 0;
	}
}
for my $o (sort keys %count) {
	my $c = $count{$o};
	if (-f $o) {
		open my $d, '-|', 'objdump', '-d', '-M', 'intel',
		    '--no-show-raw-insn', $o or die;
		while (<$d>) {
			next unless /^\s*([0-9a-f]+):\s+(\S.*)/;
			my $n = delete $c->{hex $1} or next;
			$sum{name($2)} += $n;
		}
	}
	$sum{unknown} += $_ for values %$c;
}
print "$_ $sum{$_}\n" for grep $sum{$_}, sort keys %sum;
