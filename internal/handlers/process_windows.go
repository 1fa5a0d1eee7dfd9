package handlers

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A tree is a program and all that it starts: a job object, which none of them
// can leave.
type tree struct {
	mark string
	sole bool
	job  windows.Handle
	most Limits
}

// adoptOrphans does nothing: job objects know no orphans.
func adoptOrphans() error { return nil }

func (t *tree) prepare(cmd *exec.Cmd) {
	// It stands still until it is in its job: nothing that it starts gets out.
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
		HideWindow:    true,
	}
}

func (t *tree) started(p *os.Process) (err error) {
	if t.job, err = windows.CreateJobObject(nil, nil); err != nil {
		return fmt.Errorf("job object: %w", err)
	}
	defer func() {
		if err != nil {
			windows.CloseHandle(t.job)
			t.job = 0
		}
	}()
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION |
				windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS | windows.JOB_OBJECT_LIMIT_JOB_MEMORY,
			ActiveProcessLimit: uint32(min(uint64(t.most.Processes), math.MaxUint32)),
		},
		JobMemoryLimit: uintptr(min(uint64(t.most.Memory), uint64(^uintptr(0)))),
	}
	if _, err := windows.SetInformationJobObject(t.job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		return fmt.Errorf("limits of the job object: %w", err)
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE|windows.PROCESS_SUSPEND_RESUME, false, uint32(p.Pid))
	if err != nil {
		return fmt.Errorf("process: %w", err)
	}
	defer windows.CloseHandle(h)
	if err := windows.AssignProcessToJobObject(t.job, h); err != nil {
		return fmt.Errorf("job object: %w", err)
	}
	resume := windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")
	if status, _, _ := resume.Call(uintptr(h)); status != 0 {
		return fmt.Errorf("the process does not start: status %#x", status)
	}
	return nil
}

// limitSelf does nothing: the job object keeps the limits. What they refuse, a
// command notices itself.
func limitSelf(*job) error { return nil }

func limitOther(int, *job) {}

func (t *tree) exceeds() (x excess, is bool) { return x, false }

// end ends what is left of the tree. There is nothing like asking.
func (t *tree) end() error {
	if t.job == 0 {
		return nil
	}
	defer windows.CloseHandle(t.job)
	return windows.TerminateJobObject(t.job, 1)
}

// statusOf says how a program ended.
func statusOf(state *os.ProcessState) (status int, signal string) { return state.ExitCode(), "" }

// apart keeps the terminal's signals from a supervisor.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW, HideWindow: true,
	}
}

// rootDir is a directory that nobody removes.
func rootDir() string {
	dir, err := windows.GetSystemDirectory()
	if err != nil {
		return ""
	}
	return dir
}

// closeForeign has nothing to do: a program gets the handles that it is given.
func closeForeign() {}
