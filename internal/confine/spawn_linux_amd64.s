#include "textflag.h"

// func spawn(flags, stack, ended uintptr) (pid uintptr, errno syscall.Errno)
//
// The stack has the arguments of begin on top.
TEXT ·spawn(SB),NOSPLIT|NOFRAME,$0-40
	MOVQ	flags+0(FP), DI
	MOVQ	stack+8(FP), SI
	XORL	DX, DX
	MOVQ	ended+16(FP), R10
	XORL	R8, R8
	MOVL	$56, AX // clone
	SYSCALL
	TESTQ	AX, AX
	JEQ	child
	CMPQ	AX, $0xfffffffffffff001
	JLS	started
	NEGQ	AX
	MOVQ	$0, pid+24(FP)
	MOVQ	AX, errno+32(FP)
	RET
started:
	MOVQ	AX, pid+24(FP)
	MOVQ	$0, errno+32(FP)
	RET
child:
	MOVQ	$·begin(SB), AX // which spawns as well: the linker takes a call by name for endless
	CALL	AX
	INT	$3 // it does not return
