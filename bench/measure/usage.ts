// Measures the cost of a period of work: time, CPU of client and server, and WAL. It reads counters from
// outside, so it slows nothing down.
import type { Cell, Figure, ServerInfo } from '../case.ts'
import { cpuOfMachine, cpuOfTree } from './cpu.ts'

export interface Usage {
  readonly seconds: number
  /** CPU time of this process, in µs. */
  readonly client: number
  /** CPU time of all server processes, in µs; 0 without a server. */
  readonly server: number
  /** Bytes of WAL that PostgreSQL wrote; undefined on other stores. */
  readonly wal: number | undefined
  /** Cores used by unrelated processes during the measurement. */
  readonly noise: number
}

/** Starts measuring; the returned function ends it. */
export async function measureUsage(cell: Cell): Promise<() => Promise<Usage>> {
  const walPosition = await walReader(cell)
  const wal = await walPosition()
  const machine = cpuOfMachine()
  const server = cpuOf(cell.server)
  const client = process.cpuUsage()
  const began = performance.now()
  return async () => {
    const seconds = (performance.now() - began) / 1_000
    const { user, system } = process.cpuUsage(client)
    const used = { client: user + system, server: cpuOf(cell.server) - server }
    const others = cpuOfMachine() - machine - used.client - used.server
    const walNow = await walPosition()
    return {
      seconds,
      ...used,
      wal: wal === undefined || walNow === undefined ? undefined : walNow - wal,
      noise: Math.max(0, others / 1e6 / seconds),
    }
  }
}

const cpuOf = (server: ServerInfo | undefined): number => (server === undefined ? 0 : cpuOfTree(server.pid))

async function walReader(cell: Cell): Promise<() => Promise<number | undefined>> {
  if (cell.place.store !== 'postgres') return () => Promise.resolve(undefined)
  const client = await cell.admin()
  return async () => {
    const { rows } = await client.query<{ at: string }>(`SELECT (pg_current_wal_lsn() - '0/0')::text AS at`)
    return Number(rows[0]?.at)
  }
}

/** The cost of one job, or of one step. `name` is the name of the case. */
export function usageFigures(
  name: string,
  count: number,
  usage: Omit<Usage, 'seconds' | 'noise'>,
  per: 'job' | 'step' = 'job',
): Figure[] {
  const { client, server, wal } = usage
  const figure = (part: string, unit: string, value: number): Figure => ({
    case: `${name}-${part}`,
    unit: `${unit}/${per}`,
    value: value / count,
  })
  return [
    figure('cpu', 'µs', client + server),
    figure('cpu-client', 'µs', client),
    figure('cpu-server', 'µs', server),
    ...(wal === undefined ? [] : [figure('wal', 'bytes', wal)]),
  ]
}
