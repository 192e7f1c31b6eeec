// Counts the statements that a server received: PostgreSQL logs all of them, Redis has a counter. Logging
// slows PostgreSQL down, so only cells that measure nothing else use this.
import { createReadStream, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Cell } from '../case.ts'
import { logStatements } from '../servers/postgres.ts'
import { commandsProcessed } from '../servers/redis.ts'

/**
 * Starts counting, before anything has connected to the place. The returned function gives the count since
 * then.
 */
export type StartCount = () => Promise<() => Promise<number>>

/** Undefined on SQLite, which counts no statements. */
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
  // A statement may span many lines; its continuation lines start with a tab.
  for await (const line of createInterface({ input: createReadStream(log, { start }) })) {
    if (/ LOG: {2}(?:statement|execute [^:]+): /.test(line)) count += 1
  }
  return count
}
