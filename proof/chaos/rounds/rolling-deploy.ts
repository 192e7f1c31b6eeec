/** Workers of two releases side by side, while a payload gains a value that the old release does not know. */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jobmill } from 'jobmill'
import { startPostgres } from '../../../test/support/postgres/postgres-server.ts'
import { nowMs } from '../../cluster/clock.ts'
import { allEnded } from '../../cluster/verdict/in-store.ts'
import { type Place, storeAt } from '../../cluster/places.ts'
import { calls } from '../crew/calls.ts'
import { crew as createCrew } from '../crew/crew.ts'
import type { RoundOptions, RoundResult } from './round.ts'

const NAME = 'rolling-deploy'
const KIND = { kind: 'paint', queue: 'paint' }
const OLD = { ...KIND, colors: ['red'] }
const NEW = { ...KIND, colors: ['red', 'blue'] }
const JOBS = 60
/** How long both releases run. */
const SIDE_BY_SIDE_MS = 3_000
const END_MS = 40_000
const RECOVERS_WITHIN_MS = 15_000

export async function rollingDeploy(
  options: Omit<RoundOptions, 'nemeses' | 'chance' | 'rate'>,
): Promise<RoundResult> {
  const { store, folder, closing, signal } = options
  mkdirSync(folder, { recursive: true })
  const place = await emptyPlace(options)
  const crew = createCrew(folder, place, '5s')
  closing(crew.destroy)
  const mill = jobmill({ store: await storeAt(place), log: 'silent' })
  closing(() => mill.stop())
  await mill.open()
  const [first, second] = [await crew.start([OLD]), await crew.start([OLD])]
  console.log(`\n${NAME} on ${store}`)
  const sent = calls()
  await crew.start([NEW])
  for (let n = 0; n < JOBS; n += 1) {
    await sent.send(mill, KIND, { color: n % 2 === 0 ? 'red' : 'blue', ms: 20 })
    await sleep(SIDE_BY_SIDE_MS / JOBS)
  }
  await Promise.all([crew.retire(first), crew.retire(second), crew.start([NEW])])
  const deployedAt = nowMs()
  const isEnded = await allEnded(mill, END_MS, signal)
  const recoverySeconds = isEnded ? Number(((nowMs() - deployedAt) / 1_000).toFixed(2)) : null
  const counts = (await mill.counts()).find(({ queue }) => queue === KIND.queue)
  const acknowledged = sent.all.filter(({ answer }) => answer === 'acknowledged').length
  const [dead, done] = [counts?.dead ?? 0, counts?.done ?? 0]
  const sentences: [boolean, string][] = [
    [
      dead > 0,
      `dead: ${dead} of ${acknowledged} jobs died during ${NAME} on ${store}, by a release that does not know their payload`,
    ],
    [
      done + dead < acknowledged,
      `lost: ${acknowledged - done - dead} jobs were not done after ${NAME} on ${store}`,
    ],
    [
      recoverySeconds === null || recoverySeconds * 1_000 > RECOVERS_WITHIN_MS,
      `recovery: ${NAME} on ${store} took ${recoverySeconds === null ? 'too long' : `${recoverySeconds} s`}; the limit is ${RECOVERS_WITHIN_MS / 1_000} s`,
    ],
    [sent.wrong.length > 0, `answer: ${sent.wrong.length} calls were rejected as invalid: ${sent.wrong[0]}`],
  ]
  console.log(`${NAME}: ${done} of ${acknowledged} done, ${dead} dead, recovered after ${recoverySeconds} s`)
  return {
    struck: [{ name: NAME, store, injected: 2, recoverySeconds }],
    broken: sentences.flatMap(([isBroken, sentence]) => (isBroken ? [`${sentence}.`] : [])),
    lost: Math.max(0, acknowledged - done - dead),
    acknowledged,
    finished: done,
    staleWritesRefused: 0,
  }
}

async function emptyPlace({
  store,
  folder,
  closing,
}: Pick<RoundOptions, 'store' | 'folder' | 'closing'>): Promise<Place> {
  if (store === 'sqlite') return { store, at: path.join(folder, 'jobs.db') }
  const server = await startPostgres({ binaries: 'current' })
  closing(() => server.stop())
  return { store, at: server.url }
}
