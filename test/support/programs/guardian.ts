// Stops a server of a test when the test process ends in any way, including SIGKILL. A small shell waits on a
// pipe that only this process holds open. When the pipe closes, the shell stops the server, unmounts the
// disks in its folder and removes it. So no signal handlers are needed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

// A zombie process still answers to `kill -0`, so the script checks its state.
const script = `
alive() { kill -0 "$pid" 2>/dev/null && ! grep -q ') Z ' "/proc/$pid/stat" 2>/dev/null; }
read -r _
pid=$(head -n 1 "$2" 2>/dev/null)
if [ -n "$pid" ] && alive; then
  kill -QUIT "$pid"
  tries=0
  while alive && [ "$tries" -lt 100 ]; do
    tries=$((tries + 1))
    [ "$tries" = 60 ] && kill -KILL "$pid"
    sleep 0.05
  done
fi
for mounted in $(grep -o "$1/[^ ]*" /proc/mounts 2>/dev/null); do umount -l "$mounted"; done
rm -rf "$1"
`

export interface Guardian {
  /** Stops the process in the pid file, removes the folder, and resolves when both are done. */
  release(): Promise<void>
}

/** `pidFile` is read only at the end, so a server can restart under guard. */
export function guard(folder: string, pidFile: string): Guardian {
  // Detached, because Ctrl+C reaches every process of the terminal's group and this one must survive it.
  const shell = spawn('/bin/sh', ['-c', script, 'guardian', folder, pidFile], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  shell.unref()
  const exited = once(shell, 'exit')
  return {
    async release() {
      shell.ref()
      shell.stdin.end()
      await exited
    },
  }
}
