#include "textflag.h"

// func spawn(flags, stack, ended uintptr) (pid uintptr, errno syscall.Errno)
//
// The stack has the arguments of begin on top, above the place of a return address.
TEXT ·spawn(SB),NOSPLIT|NOFRAME,$0-40
	MOVD	flags+0(FP), R0
	MOVD	stack+8(FP), R1
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	ended+16(FP), R4
	MOVD	$220, R8 // clone
	SVC
	CBZ	R0, child
	CMN	$4095, R0
	BCS	failed
	MOVD	R0, pid+24(FP)
	MOVD	$0, errno+32(FP)
	RET
failed:
	NEG	R0, R0
	MOVD	$0, pid+24(FP)
	MOVD	R0, errno+32(FP)
	RET
child:
	MOVD	$·begin(SB), R1 // which spawns as well: the linker takes a call by name for endless
	BL	(R1)
	BRK	// it does not return
