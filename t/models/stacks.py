"""stacks.py - write a program of random moves on random stacks

    python3 stacks.py SEED >program.s

Its functions call and return in pairs, or take their return addresses off the
stack onto one of their own, jump to each other's beginnings, return to where
nothing was called, and go to another stack and back.  How often they do so
depends on a counter that each of them steps; when it is used up, the program
goes back to its beginning with the first stack pointer, from wherever it is.
"""
import random
import sys

HEAD = """\
	.macro function name
	.globl \\name
	.type \\name,@function
\\name:
	.endm
	.macro end name
	.size \\name,.-\\name
	.endm
	.text
	function leaf
	inc %rbx
	ret
	end leaf
	function taker
	pop %rax
	inc %rbx
	jmp *%rax
	end taker
"""
MAIN = """\
	function main
	push %%rbx
	push %%rbp
	push %%r12
	push %%r13
	push %%r14
	push %%r15
	sub $8,%%rsp
	mov $%d,%%r12d
1:	mov %%rsp,first(%%rip)
	lea taken(%%rip),%%r13
	%s
	mov $%d,%%r15d
	call f0
	.globl out
out:	mov first(%%rip),%%rsp
	dec %%r12d
	jnz 1b
	add $8,%%rsp
	pop %%r15
	pop %%r14
	pop %%r13
	pop %%r12
	pop %%rbp
	pop %%rbx
	xor %%eax,%%eax
	ret
	end main
	.bss
	.balign 16
first:	.quad 0
taken:	.space 1 << 20
full:	.space 1 << 22
other:	.space 4096
	.space 1 << 22
lowest:	.space 16
	.section .note.GNU-stack,"",@progbits
"""


# Which stack the functions begin on, and the other one, far below or above
STACKS = ['lea other(%rip),%r14',
          'lea -65536(%rsp),%r14; lea lowest(%rip),%rsp']


class Function:
    """One function; kind: plain, frame (it keeps rbp), taker (of its return
    address, which goes onto the stack at r13)"""

    label = 0

    def __init__(self, number, count):
        self.number, self.count = number, count
        self.kind = random.choice(['plain', 'plain', 'frame', 'taker',
                                   'taker'])

    def put(self, *lines):
        for line in lines:
            print('\t' + line)

    def skip(self, test, cond):
        """A test of the counter, by which what follows is skipped"""
        Function.label += 1
        self.put(test, 'j%s .L%d' % (cond, Function.label))
        return '.L%d' % Function.label

    def other(self):
        return random.randrange(self.count)

    def call(self):
        if random.random() < .4:
            self.put('lea f%d(%%rip),%%rax' % self.other(), 'call *%rax')
        else:
            self.put('call f%d' % self.other())

    def call_on_other_stack(self):
        over = self.skip('test %r14,%r14', 'z')
        self.put('mov %rsp,-8(%r14)', 'lea -8(%r14),%rsp', 'push %r14',
                 'xor %r14d,%r14d')
        self.call()
        self.put('pop %r14', 'pop %rsp')
        print(over + ':')

    def jump_by_return(self):
        Function.label += 1
        self.put('lea .L%d(%%rip),%%rax' % Function.label, 'push %rax', 'ret')
        print('.L%d:' % Function.label)

    def sometimes(self, what):
        over = self.skip('test $%d,%%r15b' % random.choice([1, 2, 3, 4, 5, 8]),
                         random.choice(['z', 'nz']))
        what()
        print(over + ':')

    def move(self):
        self.put('dec %r15', 'js out')
        r = random.random()
        if r < .45:
            self.sometimes(self.call)
        elif r < .55:
            self.call()
        elif r < .65:
            self.call_on_other_stack()
        elif r < .72:
            self.jump_by_return()
        elif r < .8:
            self.sometimes(lambda: self.put('call taker'))
        elif r < .9:
            self.put('call leaf')
        else:
            self.put('push %rax', 'call leaf', 'pop %rax')

    def give_back(self):
        """The return address is on the stack again"""
        if self.kind == 'taker':
            self.put('sub $8,%r13', 'push (%r13)')

    def leave(self):
        if self.kind == 'frame':
            self.put('pop %rbp')
        r, to = random.random(), 'f%d' % self.other()
        if r < .2:
            self.give_back()
            self.sometimes(lambda: self.put(*random.choice([
                ['jmp ' + to], ['lea %s(%%rip),%%rax' % to, 'jmp *%rax']])))
        elif r < .35 and self.kind != 'taker':
            self.sometimes(lambda: self.put('lea %s(%%rip),%%rax' % to,
                                            'push %rax', 'ret'))
        elif r < .6 and self.kind == 'taker':
            self.put('sub $8,%r13', 'jmp *(%r13)')
        else:
            self.give_back()
        self.put('ret')

    def write(self):
        self.put('function f%d' % self.number)
        if self.kind == 'taker':
            self.put('pop (%r13)', 'add $8,%r13', 'lea full(%rip),%rax',
                     'cmp %rax,%r13', 'jae out')
        elif self.kind == 'frame':
            self.put('push %rbp')
        for _ in range(random.randint(1, 4)):
            self.move()
        self.leave()
        self.put('end f%d' % self.number)


def main():
    random.seed(int(sys.argv[1]))
    count = random.randint(3, 9)
    fuel = random.choice([50, 300, 3000, 20000])
    print(HEAD, end='')
    for i in range(count):
        Function(i, count).write()
    rounds = random.choice([1, 3, 20])
    print(MAIN % (rounds, random.choice(STACKS), fuel), end='')


main()
