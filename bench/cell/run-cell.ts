// Runs one cell in a separate process and a fresh place, and kills it when it takes too long.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { CellResult, CellSpec } from './cell.ts'
import { makePlace, type Servers } from './places.ts'
import type { PlannedCell } from '../plan/plan.ts'

export interface RunResult extends Omit<CellResult, 'about'> {
  readonly about: CellResult['about'] | undefined
  readonly timedOut: boolean
  readonly seconds: number
}

const program = fileURLToPath(new URL('cell.ts', import.meta.url))

export interface Surroundings {
  readonly servers: Servers
  /** The parent of the folders of all cells. */
  readonly folder: string
  readonly quick: boolean
}

export async function runCell(
  cell: PlannedCell,
  { servers, folder, quick }: Surroundings,
): Promise<RunResult> {
  const began = performance.now()
  const owned = await makePlace(cell.store, servers, folder)
  const server = servers[cell.store]
  const spec: CellSpec = {
    ...cell,
    place: owned.place,
    server: server && { url: server.url, pid: server.pid, log: server.log },
  }
  try {
    const result = await runProgram(spec, limitMs(cell, quick))
    return { ...result, seconds: (performance.now() - began) / 1_000 }
  } finally {
    await owned.remove()
  }
}

/** Several times the expected duration, so that only a hanging cell is killed. */
const limitMs = ({ seconds }: PlannedCell, quick: boolean): number =>
  (quick ? 60_000 : 600_000) + seconds * 2_000

async function runProgram(spec: CellSpec, limit: number): Promise<Omit<RunResult, 'seconds'>> {
  const child = spawn(process.execPath, [...process.execArgv, program, JSON.stringify(spec)], {
    // The cell exits when this channel closes.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let output = ''
  let errors = ''
  child.stdout?.setEncoding('utf8').on('data', (part: string) => (output += part))
  child.stderr?.setEncoding('utf8').on('data', (part: string) => (errors = (errors + part).slice(-2_000)))
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    child.kill('SIGKILL')
  }, limit)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  clearTimeout(timer)
  const failed = (error: string) => ({ figures: [], notes: [], about: undefined, error, timedOut })
  if (timedOut) return failed(`timed out after ${limit / 1_000} s`)
  // The last line is the result; a peer may have printed other lines before.
  const line = output.trimEnd().split('\n').at(-1) ?? ''
  if (!line.startsWith('{')) return failed(`ended with code ${code}: ${errors.trim() || output.trim()}`)
  return { ...(JSON.parse(line) as CellResult), timedOut }
}
