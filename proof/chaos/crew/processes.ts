/** Processes of one program, each with a ledger that it writes, and a log. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import path from 'node:path'

export interface Processes<Task> {
  /** Resolves when the process is ready. The program gets the task as JSON in its first argument. */
  readonly start: (task: (ledger: string) => Task) => Promise<ChildProcess>
  /** Stops a process gracefully while it works, and waits for its exit. */
  readonly retire: (child: ChildProcess) => Promise<void>
  /** Ends a process with SIGKILL, and waits for its exit. */
  readonly kill: (child: ChildProcess) => Promise<void>
  /** The files of all processes, also of those that have ended. */
  readonly ledgers: () => readonly string[]
  readonly destroy: () => Promise<void>
}

export function processes<Task>(folder: string, program: string): Processes<Task> {
  const all: { readonly child: ChildProcess; readonly ledger: string; readonly exited: Promise<unknown> }[] =
    []

  async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    child.kill(signal)
    await all.find((one) => one.child === child)?.exited
  }

  return {
    async start(task) {
      const number = all.length + 1
      const file = (suffix: string): string => path.join(folder, `crew-${number}.${suffix}`)
      const ledger = file('ledger')
      const output = openSync(file('log'), 'a')
      const child = fork(program, [JSON.stringify(task(ledger))], {
        stdio: ['ignore', output, output, 'ipc'],
      })
      closeSync(output)
      const exited = once(child, 'exit')
      all.push({ child, ledger, exited })
      const failed = exited.then(() => {
        throw new Error(`worker ${number} did not start. It said:\n${readFileSync(file('log'), 'utf8')}`)
      })
      await Promise.race([once(child, 'message'), failed])
      failed.catch(() => {})
      return child
    },
    retire: (child) => end(child, 'SIGTERM'),
    kill: (child) => end(child, 'SIGKILL'),
    ledgers: () => all.map(({ ledger }) => ledger),
    async destroy() {
      for (const { child } of all) child.kill('SIGKILL')
      await Promise.all(all.map(({ exited }) => exited))
    },
  }
}
