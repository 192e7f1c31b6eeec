/** The runtime in real processes that are killed, stopped, resumed and terminated. The stores take turns. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, inject, onTestFinished } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { standStill } from '../../../../test/support/programs/stand-still.ts'
import { jobmill, type Mill } from '../../src/index.ts'
import { kill, type Started, startProcess } from './children.ts'
import type { Kind, MillProcess } from './mill-process.ts'
import { type Place, storeAt } from './place.ts'

function start(place: Place, kinds: readonly Kind[], more: Partial<MillProcess> = {}): Started {
  return startProcess('mill-process.ts', { place, kinds, ...more })
}

/**
 * The jobs of a dying process are soon free. All others keep theirs, however long a busy machine pauses them.
 */
const DYING = { lease: '1s' } as const

/** A mill that is never started: it only reads and requests. */
async function operator(place: Place): Promise<Mill> {
  const mill = jobmill({ store: await storeAt(place), log: 'silent' })
  onTestFinished(async () => void (await mill.stop()))
  return mill
}

const hold = ({ child }: Started, { store, at }: Place): Promise<void> =>
  standStill(child.pid ?? 0, store === 'sqlite' ? at : null)

/** The messages with this prefix, split into words. */
function lines({ messages }: Pick<Started, 'messages'>, begin: string): string[][] {
  return messages.filter((line) => line.startsWith(`${begin} `)).map((line) => line.split(' '))
}

const startedIds = (process: Started): (string | undefined)[] =>
  lines(process, 'started').map(([, , id]) => id)

async function enqueue(mill: Mill, kind: Kind, jobs: number, queue = 'default'): Promise<string[]> {
  const items = Array.from({ length: jobs }, () => ({ payload: null, queue }))
  return (await mill.enqueueMany(kind, items)).map(({ id }) => id)
}

/** The jobs that run when their process is killed. */
const MANY = inFull(1_000, 200)

/** A pause between checks, because the working processes need the core and the database. */
const LOOK_EVERY_MS = 20

async function until<T>(call: () => Promise<T>, isIt: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await call()
    if (isIt(answer)) return answer
    await pause(LOOK_EVERY_MS)
  }
}

/**
 * Waits until the lease of a dead process has expired, and recovers its jobs. A process reaps on its own only
 * after one lease of its own, which is long here.
 */
async function reapLost(mill: Mill): Promise<void> {
  await until(
    () => mill.recover(),
    ({ instances = 0 }) => instances > 0,
  )
}

const places: [string, () => Place][] = [
  ['sqlite', () => ({ store: 'sqlite', at: freshFile() })],
  [
    'postgres',
    () => ({
      store: 'postgres',
      at: inject('postgresUrl'),
      schema: freshSchema(inject('postgresUrl'), 'mills'),
    }),
  ],
]

describe.each(places)('mills in processes on %s', (on, fresh) => {
  const test = inTurns(
    on,
    places.map(([name]) => name),
  )

  // The next test has more processes, and processes.test.ts checks the counts.
  test.nightly(
    'P2 P3 P4 after kill -9 each running job is run once more, with a newer token',
    async () => {
      const place = fresh()
      const mill = await operator(place)
      const ids = await enqueue(mill, 'hold', 10)
      const victim = start(place, ['hold'], DYING)
      await victim.untilMessages(() => startedIds(victim).length >= 10)
      await kill(victim)
      await reapLost(mill)
      const heir = start(place, ['hold'])
      await heir.untilMessages(() => startedIds(heir).length === 10)
      heir.tell({ let: 'hold' })
      await Promise.all(ids.map((id) => mill.job(id).result()))
      expect(new Set(startedIds(heir))).toEqual(new Set(ids))
      const token = new Map(lines(victim, 'started').map(([, , id, number]) => [id, Number(number)]))
      for (const [, , id, number, attempt] of lines(heir, 'started')) {
        expect(Number(number)).toBeGreaterThan(token.get(id) ?? Number.POSITIVE_INFINITY)
        expect(attempt).toBe('1')
      }
      const [first] = await mill.history(ids[0] ?? '')
      expect(first).toMatchObject({
        outcome: 'interrupted',
        error: 'its process crashed or stopped responding (crash 1)',
      })
    },
    60_000,
  )

  test(`P2 P3 P4 target 2: kill -9 with ${MANY} running jobs: each is run exactly once more, with a newer token`, async () => {
    const place = fresh()
    const mill = await operator(place)
    const ids = await enqueue(mill, 'hold', MANY)
    await mill.changeQueue('default', { workers: MANY })
    // Long enough for a busy process to renew it on a busy machine.
    const victim = start(place, ['hold'], { lease: '5s' })
    await victim.untilMessages(() => startedIds(victim).length === MANY)
    await kill(victim)
    await reapLost(mill)
    const heir = start(place, ['hold'])
    await heir.untilMessages(() => startedIds(heir).length === MANY)
    heir.tell({ let: 'hold' })
    await until(
      () => mill.counts(),
      ([count]) => count?.done === MANY,
    )
    expect(startedIds(heir)).toHaveLength(MANY)
    expect(new Set(startedIds(heir))).toEqual(new Set(ids))
    const before = Math.max(...lines(victim, 'started').map(([, , , token]) => Number(token)))
    for (const [, , , token] of lines(heir, 'started')) expect(Number(token)).toBeGreaterThan(before)
  }, 90_000)

  test('P2 P5 D low target 2: a process that was paused past its lease gets an error, its writes are refused, and the crash is counted', async () => {
    const place = fresh()
    const mill = await operator(place)
    const [id = ''] = await enqueue(mill, 'stubborn', 1)
    const sleeper = start(place, ['stubborn'], DYING)
    await sleeper.untilMessages(() => startedIds(sleeper).length === 1)
    await hold(sleeper, place)
    await reapLost(mill)
    const heir = start(place, ['stubborn'])
    await heir.untilMessages(() => startedIds(heir).length === 1)
    sleeper.child.kill('SIGCONT')
    await sleeper.untilMessages(() =>
      lines(sleeper, 'signal').some(([, job, why]) => job === id && why === 'lease-lost'),
    )
    sleeper.tell({ let: 'stubborn' })
    await sleeper.untilMessages((messages) => messages.includes(`event lease-lost ${id}`))
    // The process itself was paused, so this counts as a crash even if it resumes.
    await sleeper.untilMessages((messages) => messages.includes('event instance-back '))
    expect(await mill.get(id)).toMatchObject({ state: 'running', crashes: 1 })
    const [lost] = await mill.history(id)
    expect(lost?.error).toContain('blocked the event loop')
    heir.tell({ let: 'stubborn' })
    expect(await mill.job(id).result()).toBe(heir.child.pid)
    expect(lines(sleeper, 'event lease-lost')).toHaveLength(1)
    expect(lines(sleeper, 'event finished')).toHaveLength(0)
  }, 60_000)

  test('P5 a job that crashes its process dies alone, runs onDead once, and takes no other job with it', async () => {
    const place = fresh()
    const mill = await operator(place)
    const others = await enqueue(mill, 'bystander', 3)
    const [poison = ''] = await enqueue(mill, 'poison', 1)
    const fatal = async (): Promise<Started> => {
      const victim = start(place, ['bystander', 'poison'], DYING)
      await victim.ended
      return victim
    }
    const [first, second, third] = [await fatal(), await fatal(), await fatal()]
    expect(startedIds(first)).toContain(poison)
    expect(startedIds(second)).toContain(poison)
    expect(startedIds(third).at(-1)).toBe(poison)
    await reapLost(mill)
    const last = start(place, ['bystander', 'poison'])
    await last.untilMessages(() => lines(last, 'dead').length === 1)
    expect(lines(last, 'dead').map(([, id]) => id)).toEqual([poison])
    expect(await Promise.all(others.map((id) => mill.job(id).result()))).toEqual([[], [], []])
    expect(await mill.get(poison)).toMatchObject({ state: 'dead', crashes: 3, attempt: 0 })
    const all = [first, second, third, last].flatMap((process) => lines(process, 'dead'))
    expect(all).toHaveLength(1)
  }, 90_000)

  test('P6 target 3: SIGTERM under load stops claims and releases every job, without spending attempts', async () => {
    const place = fresh()
    const mill = await operator(place)
    const ids = await enqueue(mill, 'hold', 30)
    const leaving = start(place, ['hold'], { grace: '0s' })
    await leaving.untilMessages(() => startedIds(leaving).length === 10)
    leaving.child.kill('SIGTERM')
    await leaving.ended
    expect(leaving.messages).toContain('stopped')
    // Ten jobs ran when the signal came, and no other was started.
    expect(startedIds(leaving)).toHaveLength(10)
    expect(lines(leaving, 'signal').map(([, , why]) => why)).toEqual(
      Array.from({ length: 10 }, () => 'shutdown'),
    )
    const jobs = await Promise.all(ids.map((id) => mill.get(id)))
    expect(jobs.map((job) => [job?.state, job?.attempt, job?.crashes])).toEqual(
      ids.map(() => ['ready', 0, 0]),
    )
    const next = start(place, ['hold'])
    await next.untilMessages(() => startedIds(next).length === 10)
    expect(startedIds(next)).toEqual(startedIds(leaving))
    expect(lines(next, 'started').every(([, , , , attempt]) => attempt === '1')).toBe(true)
  }, 60_000)

  test('P6 running jobs get the grace period, and a second signal ends it', async () => {
    const place = fresh()
    const mill = await operator(place)
    const [quickly = ''] = await enqueue(mill, 'hold', 1)
    const patient = start(place, ['hold'], { grace: '1h' })
    await patient.untilMessages(() => startedIds(patient).length === 1)
    patient.child.kill('SIGTERM')
    patient.tell({ let: 'hold' })
    await patient.ended
    expect(await mill.job(quickly).result()).toBe(patient.child.pid)

    const [slowly = ''] = await enqueue(mill, 'stubborn', 1)
    const hurried = start(place, ['stubborn'], { grace: '1h' })
    await hurried.untilMessages(() => startedIds(hurried).length === 1)
    hurried.child.kill('SIGINT')
    hurried.child.kill('SIGTERM')
    await hurried.untilMessages((messages) => messages.includes('stopped'))
    expect(lines(hurried, 'signal').map(([, , why]) => why)).toEqual(['shutdown'])
    expect(await mill.get(slowly)).toMatchObject({ state: 'ready', attempt: 0 })
    await kill(hurried)
  }, 60_000)

  test('P7 target 4: pausing a queue and removing its workers interrupts no job', async () => {
    const place = fresh()
    const mill = await operator(place)
    const [running = ''] = await enqueue(mill, 'hold', 1)
    const worker = start(place, ['hold', 'quick'])
    await worker.untilMessages(() => startedIds(worker).length === 1)
    await mill.pause('default')
    const [waiting = ''] = await enqueue(mill, 'quick', 1)
    await worker.untilMessages((messages) => messages.includes('event queue-changed '))
    worker.tell({ let: 'hold' })
    expect(await mill.job(running).result()).toBe(worker.child.pid)
    expect(await mill.get(waiting)).toMatchObject({ state: 'ready', attempt: 0 })
    await mill.changeQueue('default', { paused: false, workers: 0 })
    expect(await mill.get(waiting)).toMatchObject({ state: 'ready', attempt: 0 })
    await mill.changeQueue('default', { workers: 1 })
    expect(await mill.job(waiting).result()).toBe(1)
    expect(lines(worker, 'signal')).toEqual([])
  }, 60_000)

  test('P8 target 4: a cancel reaches a job of another process with its reason', async () => {
    const place = fresh()
    const mill = await operator(place)
    const [id = ''] = await enqueue(mill, 'hold', 1)
    const worker = start(place, ['hold'])
    await worker.untilMessages(() => startedIds(worker).length === 1)
    expect(await mill.cancel(id, 'no longer needed')).toMatchObject({ verdict: 'changed', state: 'running' })
    await worker.untilMessages(() => lines(worker, 'signal').length === 1)
    expect(worker.messages).toContain(`signal ${id} cancelled no longer needed`)
    await expect(mill.job(id).result()).rejects.toMatchObject({ code: 'JOB_CANCELLED' })
    expect(await mill.cancel(id)).toMatchObject({ verdict: 'unchanged', state: 'cancelled' })
  }, 60_000)

  test('P8 target 4: a cancel survives the crash of the process that ran the job', async () => {
    const place = fresh()
    const mill = await operator(place)
    const [id = ''] = await enqueue(mill, 'hold', 1)
    const victim = start(place, ['hold'], DYING)
    await victim.untilMessages(() => startedIds(victim).length === 1)
    await hold(victim, place)
    expect(await mill.cancel(id, 'too late for it')).toMatchObject({ verdict: 'changed', state: 'running' })
    await kill(victim)
    await reapLost(mill)
    const other = start(place, ['hold'])
    await expect(mill.job(id).result()).rejects.toMatchObject({
      code: 'JOB_CANCELLED',
      message: expect.stringContaining('too late for it') as string,
    })
    expect(startedIds(other)).toEqual([])
  }, 60_000)

  test('P14 a process claims no job without a handler, and reports the kind without a worker', async () => {
    const place = fresh()
    const mill = await operator(place)
    const [foreign = ''] = await enqueue(mill, 'stubborn', 1)
    const [own = ''] = await enqueue(mill, 'quick', 1)
    const worker = start(place, ['quick'])
    expect(await mill.job(own).result()).toBe(1)
    expect(await mill.get(foreign)).toMatchObject({ state: 'ready', attempt: 0 })
    expect(await mill.unservedKinds()).toEqual([
      { queue: 'default', kind: 'stubborn', minVersion: null, jobs: 1 },
    ])
    const other = start(place, ['stubborn'])
    other.tell({ let: 'stubborn' })
    expect(await mill.job(foreign).result()).toBe(other.child.pid)
    expect(await mill.unservedKinds()).toEqual([])
    expect(startedIds(worker)).toEqual([own])
  }, 60_000)

  test('P1 P3 a job that a process acknowledged before kill -9 is run by another', async () => {
    const place = fresh()
    const mill = await operator(place)
    const ids = await enqueue(mill, 'quick', 200)
    const first = start(place, ['quick'], DYING)
    await first.untilMessages(() => lines(first, 'event finished').length >= 20)
    await kill(first)
    await reapLost(mill)
    const second = start(place, ['quick'])
    await Promise.all(ids.map((id) => mill.job(id).result()))
    // The first may have done everything before this one handles signals.
    await second.untilMessages((messages) => messages.includes('ready'))
    second.child.kill('SIGTERM')
    await second.ended
    const counts = await until(
      () => mill.counts(),
      ([queue]) => queue?.done === 200,
    )
    expect(counts[0]).toMatchObject({ ready: 0, running: 0, scheduled: 0, dead: 0, done: 200 })
  }, 60_000)

  test('a child process that gets the end message exits on its own', async () => {
    const worker = start(fresh(), ['quick'])
    await worker.untilMessages((messages) => messages.includes('ready'))
    worker.child.kill('SIGTERM')
    const [code] = (await once(worker.child, 'close')) as [number]
    expect(code).toBe(0)
  }, 60_000)
})
