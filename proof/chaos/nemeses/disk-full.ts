/** Fills the disk of the store, and frees it after a while. */
import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs } from '../../cluster/clock.ts'
import { BACK_MS, cannot, type Nemesis, type Scene, type Servers } from '../scene.ts'
import { asOperator } from './server.ts'

const FULL_MS = 3_000

export const diskFull: Nemesis = {
  name: 'disk-full',
  stores: ['postgres', 'sqlite'],
  recoversWithinMs: BACK_MS,
  async strike(scene) {
    const { disk, postgres, outages, progressLog } = scene
    if (disk === null) return cannot('no file system could be mounted', nowMs())
    const from = nowMs()
    disk.fill()
    progressLog.say(`the disk is full, for ${FULL_MS / 1_000} s`)
    const injected =
      postgres === null ? await refusals(scene, from, disk.fill) : await failures(postgres, disk.fill)
    disk.free()
    if (postgres !== null) await up(postgres)
    const overAt = nowMs()
    outages.push({ from, to: overAt })
    return { injected, overAt }
  },
}

/** Counts calls that were refused while the disk was full. Space that becomes free is filled again. */
async function refusals({ sent }: Scene, from: number, fill: () => void): Promise<number> {
  while (nowMs() < from + FULL_MS) {
    await sleep(100)
    fill()
  }
  return sent.filter(({ sentAt, answer }) => sentAt >= from && answer !== 'acknowledged').length
}

/** Counts failed operator writes until the server shuts down or the time is over. */
async function failures({ primary }: Servers, fill: () => void): Promise<number> {
  const until = nowMs() + FULL_MS
  let failed = 0
  await asOperator(primary.url, async (client) => {
    await client.query('CREATE TABLE IF NOT EXISTS public.ballast (bytes text)').catch(() => (failed += 1))
    while (nowMs() < until && primary.isRunning()) {
      fill()
      await client
        .query(
          `INSERT INTO public.ballast SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 5000)`,
        )
        .catch(() => (failed += 1))
      await sleep(20)
    }
    await client.query('DROP TABLE public.ballast').catch(() => {})
  }).catch(() => (failed += 1))
  return failed
}

/** Starts the server like an operator would, if it did not recover on its own. */
async function up({ primary }: Servers): Promise<void> {
  const deadline = nowMs() + 30_000
  for (;;) {
    try {
      if (!primary.isRunning()) await primary.restart()
      await asOperator(primary.url, (client) => client.query('DROP TABLE IF EXISTS public.ballast'))
      return
    } catch (error) {
      if (nowMs() > deadline) throw error
      await sleep(100)
    }
  }
}
