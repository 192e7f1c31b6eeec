// Makes sure that a server which a test started does not outlive it, however the test process ends (SIGKILL
// included). A small shell waits on a pipe that only we hold open; when we are gone, the pipe closes, and the
// shell stops the server and removes its folder, with the small disks in it. So no signal handlers are needed anywhere.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

// A process that ended but that nobody has collected yet still answers to `kill -0`, hence the look at its state.
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
  /** Stops what the pid file still names, removes the folder, and resolves when both are done. */
  release(): Promise<void>
}

/** `pidFile` is read only at the end, so a server may be restarted under guard. */
export function guard(folder: string, pidFile: string): Guardian {
  // Detached: Ctrl-C reaches every process of the terminal's group, and this one has to survive it.
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
