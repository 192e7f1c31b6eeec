/** The PostgreSQL connections of one inbox, which a test can cut, even during a statement. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, inject } from 'vitest'
import { addressOf } from './inboxes.ts'

export interface Cuts {
  readonly address: string
  /** Cuts all connections; resolves when the server has closed them. */
  readonly cut: () => Promise<void>
  /** Cuts them while `act` waits for a lock on this table. */
  readonly cutDuring: <T>(table: string, act: () => Promise<T>) => Promise<T>
}

export function cutsForAll(): () => Cuts {
  const name = `inbox ${randomUUID()}`
  // Two clients, because pg_stat_activity is a snapshot inside a transaction.
  const clients: pg.Client[] = []
  let address = ''
  beforeAll(async () => {
    address = `${addressOf('postgres')}&application_name=${encodeURIComponent(name)}`
    for (let n = 0; n < 2; n += 1) {
      const client = new pg.Client({ connectionString: inject('postgresUrl') })
      await client.connect()
      clients.push(client)
    }
  })
  afterAll(() => Promise.all(clients.map((client) => client.end())))

  async function ask(text: string, values: unknown[]): Promise<number[]> {
    const { rows } = (await clients[0]?.query<{ pid: number }>(text, values)) ?? { rows: [] }
    return rows.map(({ pid }) => pid)
  }
  const theirs = 'SELECT pid FROM pg_stat_activity WHERE application_name = $1'

  async function cut(): Promise<void> {
    const pids = await ask(theirs, [name])
    await ask('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [pids])
    const left = 'SELECT pid FROM pg_stat_activity WHERE pid = ANY($1::int[])'
    while ((await ask(left, [pids])).length > 0);
  }

  return () => ({
    address,
    cut,
    async cutDuring(table, act) {
      const schema = new URL(address).searchParams.get('schema')
      await clients[1]?.query(`BEGIN; LOCK TABLE ${pg.escapeIdentifier(`${schema}_uploads`)}.${table}`)
      const over = { is: false }
      const acting = act().finally(() => (over.is = true))
      acting.catch(() => {})
      try {
        while (!over.is && (await ask(`${theirs} AND wait_event_type = 'Lock'`, [name])).length === 0);
        await cut()
      } finally {
        // Release the lock now, because the cleanup needs the table too.
        await clients[1]?.query('COMMIT')
      }
      return acting
    },
  })
}
