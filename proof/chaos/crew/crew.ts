/** Worker processes of a scene with its own kinds, managed by the process that starts them. */
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Place } from '../../cluster/places.ts'
import { processes } from './processes.ts'
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
  const { start, retire, ledgers, destroy } = processes<CrewTask>(
    folder,
    path.join(import.meta.dirname, 'worker.ts'),
  )
  return {
    start: (kinds) => start((ledger) => ({ place, ledger, kinds, lease })),
    retire,
    lines: () => ledgers().flatMap(linesIn),
    destroy,
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
