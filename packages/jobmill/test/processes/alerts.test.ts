/** Alerts of real processes that are killed between their steps. */
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { Dead, defineJob, jobmill, type Mill } from '../../src/index.ts'
import { receiver, SECRET } from '../alerts/receiver.ts'
import type { AlertProcess } from './alert-process.ts'
import { type Started, startProcess } from './children.ts'
import { type Place, storeAt } from './place.ts'

const places: [string, () => Place][] = [
  ['sqlite', () => ({ store: 'sqlite', at: freshFile() })],
  [
    'postgres',
    () => ({
      store: 'postgres',
      at: inject('postgresUrl'),
      schema: freshSchema(inject('postgresUrl'), 'alerts'),
    }),
  ],
]

const dies = defineJob({
  kind: 'dies',
  run() {
    throw new Dead('no')
  },
})

/** A mill that has left one dead job behind, and only looks from here on. */
async function operator(place: Place): Promise<Mill> {
  const worker = jobmill({ store: await storeAt(place), jobs: [dies], log: 'silent' })
  await worker.start()
  await (await worker.enqueue(dies, null)).result().catch(() => {})
  await worker.stop()
  const mill = jobmill({ store: await storeAt(place), log: 'silent' })
  onTestFinished(async () => void (await mill.stop()))
  return mill
}

describe.each(inFull(places, places.slice(0, 1)))('alerts of processes on %s', (_, fresh) => {
  test('P1 kill -9 before and after the enqueue, and after the delivery, loses no alert, and repeats have one id', async () => {
    const hook = await receiver()
    const place = fresh()
    const mill = await operator(place)
    const start = (dieAt?: AlertProcess['dieAt']): Started =>
      startProcess('alert-process.ts', { place, url: hook.url, secret: SECRET, dieAt })
    const messages = async (): Promise<number> => (await mill.list({ kind: 'jobmill.alert' })).jobs.length

    await start('enqueue').ended
    expect(await messages()).toBe(0)
    expect(await mill.alerts.list()).toMatchObject([{ problems: [{ check: 'dead', sent: 1 }] }])

    // The process must not send the message before it dies.
    await mill.pause('jobmill')
    await start('clear').ended
    expect(await messages()).toBe(1)
    expect(hook.received).toHaveLength(0)
    await mill.resume('jobmill')

    await start('finish').ended
    expect(await messages()).toBe(1)
    expect(hook.received).toHaveLength(1)

    const heir = start()
    await heir.untilMessages((all) => all.includes('finished jobmill.alert'))
    expect(await messages()).toBe(1)
    expect(hook.received.map(({ body }) => body.type)).toEqual(['jobmill.problem', 'jobmill.problem'])
    expect(new Set(hook.received.map(({ id }) => id)).size).toBe(1)
    expect(hook.received.every((one) => hook.isSigned(one))).toBe(true)

    // The end of the problem is sent once, under its own id.
    const [dead] = (await mill.list({ kind: 'dies' })).jobs
    await mill.delete(dead?.id ?? '')
    heir.tell({ pass: true })
    await hook.until(3)
    expect(hook.received[2]?.body.type).toBe('jobmill.recovered')
    expect(hook.received[2]?.id).not.toBe(hook.received[0]?.id)
  }, 120_000)
})
