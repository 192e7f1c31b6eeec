/** Worker processes of a scene with its own kinds, managed by the process that starts them. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Place } from '../../cluster/places.ts'
import type { CrewKind, CrewLine, CrewTask } from './worker.ts'

export interface Crew {
  /** Resolves when the worker is ready. */
  readonly start: (kinds: readonly CrewKind[]) => Promise<ChildProcess>
  /** Stops a worker gracefully while it works, and waits for its exit. */
  readonly retire: (worker: ChildProcess) => Promise<void>
  /** The ledger lines of all workers. */
  readonly lines: () => CrewLine[]
  readonly destroy: () => Promise<void>
}

export function crew(folder: string, place: Place, lease: string): Crew {
  const all: { readonly child: ChildProcess; readonly ledger: string; readonly exited: Promise<unknown> }[] =
    []

  return {
    async start(kinds) {
      const number = all.length + 1
      const file = (suffix: string): string => path.join(folder, `crew-${number}.${suffix}`)
      const task: CrewTask = { place, ledger: file('ledger'), kinds, lease }
      const output = openSync(file('log'), 'a')
      const child = fork(path.join(import.meta.dirname, 'worker.ts'), [JSON.stringify(task)], {
        stdio: ['ignore', output, output, 'ipc'],
      })
      closeSync(output)
      const exited = once(child, 'exit')
      all.push({ child, ledger: task.ledger, exited })
      const failed = exited.then(() => {
        throw new Error(`worker ${number} did not start. It said:\n${readFileSync(file('log'), 'utf8')}`)
      })
      await Promise.race([once(child, 'message'), failed])
      failed.catch(() => {})
      return child
    },
    async retire(worker) {
      worker.kill('SIGTERM')
      await all.find(({ child }) => child === worker)?.exited
    },
    lines: () => all.flatMap(({ ledger }) => linesIn(ledger)),
    async destroy() {
      for (const { child } of all) child.kill('SIGKILL')
      await Promise.all(all.map(({ exited }) => exited))
    },
  }
}

/** Ignores an incomplete last line. */
function linesIn(ledger: string): CrewLine[] {
  if (!existsSync(ledger)) return []
  const text = readFileSync(ledger, 'utf8')
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as CrewLine)
}
