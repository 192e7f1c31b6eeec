// How many statements a server got: PostgreSQL from its log, which is told to name them all; Redis from its own counter.
// It slows PostgreSQL down, so it is for cells that measure nothing else.
import { createReadStream, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Cell } from '../case.ts'
import { logStatements } from '../servers/postgres.ts'
import { commandsProcessed } from '../servers/redis.ts'

/** Starts counting; the answer says how many there were since. Before anything has connected to the place. */
export type StartCount = () => Promise<() => Promise<number>>

/** None on SQLite: nobody counts there. */
export async function statementCounter(cell: Cell): Promise<StartCount | undefined> {
  const { server, place } = cell
  if (server === undefined) return undefined
  if (place.store === 'redis') {
    return async () => {
      const before = await commandsProcessed(server.url)
      return async () => (await commandsProcessed(server.url)) - before
    }
  }
  await logStatements(server.url, new URL(place.url).pathname.slice(1))
  return () => {
    const { size } = statSync(server.log)
    return Promise.resolve(() => statementsSince(server.log, size))
  }
}

async function statementsSince(log: string, start: number): Promise<number> {
  let count = 0
  // The text of a statement may go over many lines; those that follow begin with a tab.
  for await (const line of createInterface({ input: createReadStream(log, { start }) })) {
    if (/ LOG: {2}(?:statement|execute [^:]+): /.test(line)) count += 1
  }
  return count
}
