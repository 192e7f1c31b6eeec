/** Faults of a PostgreSQL server and its connections. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { nowMs } from '../../cluster/clock.ts'
import { BACK_MS, cannot, type Nemesis, type Scene, type Servers } from '../scene.ts'

const POSTGRES = ['postgres'] as const

function serversOf({ postgres }: Scene): Servers {
  if (postgres === null) throw new Error('this happens to PostgreSQL only')
  return postgres
}

/** An operator session that bypasses the proxy. */
export async function asOperator<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'chaos' })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

const AWAY_MS = 1_000

export const pgRestart: Nemesis = {
  name: 'pg-restart',
  stores: POSTGRES,
  recoversWithinMs: BACK_MS,
  async strike(scene) {
    const { primary } = serversOf(scene)
    const from = nowMs()
    scene.progressLog.say(`the server is killed, for ${AWAY_MS / 1_000} s`)
    await primary.kill()
    await sleep(AWAY_MS)
    await primary.restart()
    const overAt = nowMs()
    scene.outages.push({ from, to: overAt })
    return { injected: 1, overAt }
  },
}

const STORM_MS = 2_000
const TERMINATE = `SELECT count(pg_terminate_backend(pid))::int4 AS n FROM pg_stat_activity WHERE application_name LIKE 'jobmill%'`

export const pgTerminate: Nemesis = {
  name: 'pg-terminate',
  stores: POSTGRES,
  recoversWithinMs: BACK_MS,
  async strike(scene) {
    const from = nowMs()
    const injected = await asOperator(serversOf(scene).primary.url, async (client) => {
      let ended = 0
      while (nowMs() < from + STORM_MS) {
        const { rows } = await client.query<{ n: number }>(TERMINATE)
        ended += rows[0]?.n ?? 0
        await sleep(100)
      }
      return ended
    })
    const overAt = nowMs()
    scene.progressLog.say(`${injected} sessions were terminated`)
    scene.outages.push({ from, to: overAt })
    return { injected, overAt }
  },
}

export const pgFailover: Nemesis = {
  name: 'pg-failover',
  stores: POSTGRES,
  recoversWithinMs: BACK_MS,
  async strike(scene) {
    const servers = serversOf(scene)
    const { standby, primary, proxy } = servers
    if (standby === null) return cannot('there is no standby left', nowMs())
    const from = nowMs()
    scene.progressLog.say('the server is killed and stays down; its standby takes its place')
    await primary.kill()
    await asOperator(standby.url, (client) => client.query('SELECT pg_promote(true, 30)'))
    proxy.pointTo(standby.port)
    servers.primary = standby
    servers.standby = null
    const overAt = nowMs()
    scene.outages.push({ from, to: overAt })
    return { injected: 1, overAt }
  },
}

const HELD_MS = 2_500

export const poolExhaustion: Nemesis = {
  name: 'pool-exhaustion',
  stores: POSTGRES,
  recoversWithinMs: BACK_MS,
  async strike(scene) {
    const { url } = serversOf(scene).primary
    const from = nowMs()
    const held: pg.Client[] = []
    let refused = 0
    await asOperator(url, async (operator) => {
      // Existing connections are terminated, and no new ones are available.
      for (let isFirst = true; nowMs() < from + HELD_MS; isFirst = false) {
        while (await took(url, held));
        refused += 1
        if (isFirst) await operator.query(TERMINATE)
        await sleep(20)
      }
    })
    await Promise.all(held.map((client) => client.end().catch(() => {})))
    const overAt = nowMs()
    scene.progressLog.say(`${held.length} connections were taken, until there was none left`)
    scene.outages.push({ from, to: overAt })
    return { injected: refused === 0 ? 0 : held.length, overAt }
  },
}

/** Whether another connection was available. */
async function took(url: string, held: pg.Client[]): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, application_name: 'chaos' })
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    if ((error as { code?: string }).code === '53300') return false
    throw error
  }
  held.push(client)
  return true
}

const PINNED_MS = 4_000
/** Another session checks this while the pin is idle. The pin keeps a snapshot that it holds then. */
const PINS = `SELECT count(*)::int4 AS n FROM pg_stat_activity WHERE application_name = 'chaos pin' AND backend_xmin IS NOT NULL`

export const xminPin: Nemesis = {
  name: 'xmin-pin',
  stores: POSTGRES,
  recoversWithinMs: BACK_MS,
  async strike(scene) {
    const { url } = serversOf(scene).primary
    const client = new pg.Client({ connectionString: url, application_name: 'chaos pin' })
    client.on('error', () => {})
    await client.connect()
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    await client.query('SELECT txid_current()')
    scene.progressLog.say(
      `a transaction keeps everything visible that is deleted, for ${PINNED_MS / 1_000} s`,
    )
    await sleep(PINNED_MS)
    let injected = 0
    await asOperator(url, async (operator) => {
      const { rows } = await operator.query<{ n: number }>(PINS)
      injected = rows[0]?.n ?? 0
    })
    // Work must continue while the transaction is open.
    return { injected, overAt: nowMs(), afterwards: () => client.end() }
  },
}
