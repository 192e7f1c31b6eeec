/** Requests of operators in real processes that run jobs, and that are killed. On both stores. */
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, inject, onTestFinished } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { jobmill, type Mill } from '../../src/index.ts'
import { kill, type Started, startProcess } from './children.ts'
import type { Kind, MillProcess } from './mill-process.ts'
import { type Place, storeAt } from './place.ts'

const LOOK_EVERY_MS = 20

function start(place: Place, kinds: readonly Kind[], more: Partial<MillProcess> = {}): Started {
  return startProcess('mill-process.ts', { place, kinds, ...more })
}

/** A mill that is never started: it only reads and requests. */
async function operator(place: Place): Promise<Mill> {
  const mill = jobmill({ store: await storeAt(place), log: 'silent' })
  onTestFinished(async () => void (await mill.stop()))
  return mill
}

/** The ids of the jobs that this process started. */
const startedIn = ({ messages }: Started): string[] =>
  messages.filter((line) => line.startsWith('started ')).map((line) => line.split(' ')[2] ?? '')

const received = (type: string) => (messages: readonly string[]) => messages.includes(`event ${type} `)

async function enqueue(mill: Mill, kind: Kind, jobs: number): Promise<string[]> {
  const items = Array.from({ length: jobs }, () => ({ payload: null }))
  return (await mill.enqueueMany(kind, items)).map(({ id }) => id)
}

/** A process that runs as many `hold` jobs, and its instance. */
async function holding(mill: Mill, place: Place, jobs: number, more: Partial<MillProcess> = {}) {
  const ids = await enqueue(mill, 'hold', jobs)
  const process = start(place, ['hold', 'quick'], more)
  await process.untilMessages(() => startedIn(process).length === jobs)
  const [instance] = await mill.instances()
  return { ids, process, instance: instance?.id ?? '' }
}

const places: [string, () => Place][] = [
  ['sqlite', () => ({ store: 'sqlite', at: freshFile() })],
  [
    'postgres',
    () => ({
      store: 'postgres',
      at: inject('postgresUrl'),
      schema: freshSchema(inject('postgresUrl'), 'requests'),
    }),
  ],
]

describe.each(places)('requests to processes on %s', (on, fresh) => {
  const test = inTurns(
    on,
    places.map(([name]) => name),
  )
  test('P7 a process that acknowledged quiet claims nothing more, another does all, and its jobs end', async () => {
    const place = fresh()
    const mill = await operator(place)
    const { ids, process, instance } = await holding(mill, place, 3)
    await mill.quietInstance(instance, { by: 'ada' })
    await process.untilMessages(received('mill-quiet'))
    const later = await enqueue(mill, 'quick', 100)
    const other = start(place, ['quick'])
    await Promise.all(later.map((id) => mill.job(id).result()))
    // A result may arrive before the message of the process.
    await other.untilMessages(() => startedIn(other).length === later.length)
    expect(startedIn(process).toSorted()).toEqual(ids.toSorted())
    process.tell({ let: 'hold' })
    expect(await Promise.all(ids.map((id) => mill.job(id).result()))).toEqual(
      ids.map(() => process.child.pid),
    )
    await kill(other)
    // Only the quiet process is left, and it claims again once it is resumed.
    const [last = ''] = await enqueue(mill, 'quick', 1)
    await mill.resumeInstance(instance)
    expect(await mill.job(last).result()).toBe(1)
    await process.untilMessages(() => startedIn(process).includes(last))
  }, 60_000)

  test('P6 a process that is asked to stop ends with code 0, and nothing is lost', async () => {
    const place = fresh()
    const mill = await operator(place)
    const { ids, process, instance } = await holding(mill, place, 3, { grace: '1h' })
    await mill.stopInstance(instance, { by: 'ada' })
    await process.untilMessages(received('mill-stopping'))
    const later = await enqueue(mill, 'quick', 50)
    process.tell({ let: 'hold' })
    await process.ended
    expect([process.child.exitCode, process.messages.at(-1)]).toEqual([0, 'stopped'])
    expect(await Promise.all(ids.map((id) => mill.job(id).result()))).toEqual(
      ids.map(() => process.child.pid),
    )
    expect((await mill.instances()).map(({ state, requestedBy }) => [state, requestedBy])).toEqual([
      ['stopped', 'ada'],
    ])
    const heir = start(place, ['quick'])
    await Promise.all(later.map((id) => mill.job(id).result()))
    expect(new Set(startedIn(heir))).toEqual(new Set(later))
  }, 60_000)

  test('P4 the jobs of a quiet process that is killed are run by another', async () => {
    const place = fresh()
    const mill = await operator(place)
    const { ids, process, instance } = await holding(mill, place, 3, { lease: '1s' })
    await mill.quietInstance(instance)
    await process.untilMessages(received('mill-quiet'))
    await kill(process)
    while (((await mill.recover())['instances'] ?? 0) === 0) await pause(LOOK_EVERY_MS)
    const heir = start(place, ['hold'])
    await heir.untilMessages(() => startedIn(heir).length === ids.length)
    heir.tell({ let: 'hold' })
    expect(await Promise.all(ids.map((id) => mill.job(id).result()))).toEqual(ids.map(() => heir.child.pid))
    // The new process is not quiet.
    const alive = (await mill.instances()).filter(({ state }) => state === 'alive')
    expect(alive.map(({ requested }) => requested)).toEqual([null])
  }, 60_000)
})
