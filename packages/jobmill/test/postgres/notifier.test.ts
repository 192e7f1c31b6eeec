/** The notifier between processes: what it sends and receives, and that all compute the same order. */
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import { postgres } from '../../src/postgres.ts'
import type { WakeUp } from '../../src/store/types/wake-up.ts'
import type { FullStore } from '../../src/store/store.ts'
import { notifySender, NOTIFY_EVERY_MS } from '../../src/store-postgres/notifier/notify-sender.ts'
import { messageText, readMessage } from '../../src/store-postgres/notifier/notify-message.ts'
import { trackMissedNotifications } from '../../src/store-postgres/notifier/missed-notifications.ts'
import { aClaim, aJob, anInstance, someJobs } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')

function aWakeUp(overrides: Partial<WakeUp> = {}): WakeUp {
  return { queue: 'a', jobs: 1, seed: 1, skip: 0, passes: true, ...overrides }
}

/** A sender whose messages stay in flight until they are released. */
function slowSender() {
  const arrived: (() => void)[] = []
  const texts: string[] = []
  const send = (text: string): Promise<void> => {
    texts.push(text)
    return new Promise((resolve) => arrived.push(resolve))
  }
  // Every reading of the clock advances it, so that no notification is too soon after the last.
  let now = 0
  const platform = { ...systemPlatform, monotonic: () => (now += NOTIFY_EVERY_MS) }
  const sender = notifySender({ me: 'me', platform, send })
  const messages = () => texts.map((text) => readMessage(text))
  /** Releases one after the other, as many as there are. */
  const letGo = async (): Promise<void> => {
    for (let n = 0; n < 1_000; n += 1) {
      arrived.splice(0).forEach((arrive) => arrive())
      await Promise.resolve()
    }
    await sender.close()
  }
  return { sender, messages, letGo }
}

describe('postgres notifier: sending', () => {
  test('P15 notifications during a send are merged into the next message, with the numbers added up', async () => {
    const { sender, messages, letGo } = slowSender()
    const first = sender.notify([{ queue: 'a', jobs: 1 }])
    const second = sender.notify([{ queue: 'a', jobs: 2 }])
    const third = sender.notify([
      { queue: 'a', jobs: 3 },
      { queue: 'b', jobs: null },
    ])
    expect(messages()).toEqual([first])
    await letGo()
    expect(messages().slice(1)).toEqual([third])
    // Local waiters are notified at once, each time with all of the message, so that the last equals what
    // other processes receive.
    expect(second).toMatchObject({ seed: third.seed, notifications: [{ queue: 'a', jobs: 2 }] })
    expect(third.notifications).toEqual([
      { queue: 'a', jobs: 5 },
      { queue: 'b', jobs: null },
    ])
    expect(third.seed).not.toBe(first.seed)
  })

  test('P15 notifications in quick succession are sent together, once a few milliseconds have passed', async () => {
    const clock = { now: 0, waits: [] as { ms: number; task: () => void }[] }
    const platform = {
      ...systemPlatform,
      monotonic: () => clock.now,
      timer(ms: number, task: () => void) {
        clock.waits.push({ ms, task })
        return { cancel() {} }
      },
    }
    const texts: string[] = []
    const send = async (text: string): Promise<void> => void texts.push(text)
    const sender = notifySender({ me: 'me', platform, send })
    const first = sender.along([{ queue: 'a', jobs: 1 }])
    expect(first).toMatchObject({ from: 'me', notifications: [{ queue: 'a', jobs: 1 }] })
    clock.now = 2
    // It was piggybacked a moment ago: the next ones wait.
    expect(sender.along([{ queue: 'a', jobs: 1 }])).toBeNull()
    sender.notify([{ queue: 'a', jobs: 2 }])
    sender.notify([{ queue: 'a', jobs: 3 }])
    expect(texts).toEqual([])
    expect(clock.waits.map(({ ms }) => ms)).toEqual([NOTIFY_EVERY_MS - 2])
    clock.now = NOTIFY_EVERY_MS
    clock.waits.shift()?.task()
    await sender.close()
    expect(texts.map(readMessage)).toMatchObject([{ notifications: [{ queue: 'a', jobs: 5 }] }])
  })

  test('an unknown number makes the sum unknown, and a queue that is named twice is reported once', () => {
    const { sender } = slowSender()
    sender.notify([{ queue: 'x', jobs: 1 }])
    const notifications = [
      { queue: 'a', jobs: 2 },
      { queue: 'a', jobs: null },
    ]
    expect(sender.notify(notifications).notifications).toEqual([{ queue: 'a', jobs: null }])
    expect(sender.notify([{ queue: 'a', jobs: 5 }]).notifications).toEqual([{ queue: 'a', jobs: null }])
  })

  test('a forwarded wake-up keeps its seed and the number of instances already notified', async () => {
    const { sender, messages, letGo } = slowSender()
    sender.forward(aWakeUp({ seed: 77, skip: 3, jobs: 2 }))
    await letGo()
    expect(messages()).toEqual([{ from: 'me', seed: 77, skip: 3, notifications: [{ queue: 'a', jobs: 2 }] }])
  })

  test('P15 wake-ups that cannot be forwarded in time are dropped, and the next notification goes first', async () => {
    const { sender, messages, letGo } = slowSender()
    sender.notify([{ queue: 'x', jobs: 1 }])
    for (let skip = 1; skip <= 500; skip += 1) sender.forward(aWakeUp({ skip }))
    sender.notify([{ queue: 'y', jobs: 1 }])
    await letGo()
    expect(messages()).toHaveLength(102)
    expect(messages()[1]?.notifications).toEqual([{ queue: 'y', jobs: 1 }])
  })

  test('a message that is too long wakes every instance, and so does one of another release', () => {
    const notifications = Array.from({ length: 500 }, (_, n) => ({ queue: `queue-${n}`, jobs: 1 }))
    const text = messageText({ from: 'me', seed: 1, skip: 0, notifications })
    expect(text.length).toBeLessThan(8_000)
    expect(readMessage(text)).toEqual({ from: 'me', seed: 1, skip: 0 })
    expect(readMessage('0190b6c4-0000-7000-8000-000000000000 emails,reports')).toBeUndefined()
    expect(readMessage('')).toBeUndefined()
    expect(readMessage('7')).toBeUndefined()
  })
})

describe('postgres notifier: missed notifications', () => {
  test('are delivered to the next wait, unchanged and once', () => {
    const missed = trackMissedNotifications()
    missed.add([aWakeUp({ seed: 1 }), aWakeUp({ queue: 'b' })])
    missed.add([aWakeUp({ seed: 2, jobs: 5 })])
    expect(missed.take(['c'])).toEqual([])
    expect(missed.take(['a', 'c'])).toEqual([aWakeUp({ seed: 1 }), aWakeUp({ seed: 2, jobs: 5 })])
    expect(missed.take(['a'])).toEqual([])
    expect(missed.take(['b'])).toHaveLength(1)
  })

  test('are not delivered if a waiter got them or a claim has looked since', () => {
    const missed = trackMissedNotifications()
    missed.startWaiting(['a', 'b'])
    missed.add([aWakeUp()])
    // The waiter has left to claim: from here on it receives nothing.
    missed.add([aWakeUp({ seed: 2 }), aWakeUp({ queue: 'b' })])
    expect(missed.take(['a'])).toEqual([aWakeUp({ seed: 2 })])
    missed.forget(['b'])
    expect(missed.take(['b'])).toEqual([])
    const over = missed.startWaiting(['a'])
    over()
    missed.add([aWakeUp({ seed: 3 })])
    expect(missed.take(['a'])).toHaveLength(1)
  })

  test('are merged if one is repeated, and wake every instance if they are many or their queue is unknown', () => {
    const missed = trackMissedNotifications()
    missed.add([aWakeUp({ jobs: 1 })])
    missed.add([aWakeUp({ jobs: 4 })])
    expect(missed.take(['a'])).toEqual([aWakeUp({ jobs: 4 })])
    for (let seed = 0; seed < 100; seed += 1) missed.add([aWakeUp({ seed })])
    const some = missed.take(['a'])
    expect(some.length).toBeLessThanOrEqual(16)
    expect(some).toContainEqual(aWakeUp({ jobs: null, seed: 0, passes: false }))
    missed.add('all')
    expect(missed.take(['a', 'b'])).toMatchObject([
      { queue: 'a', jobs: null },
      { queue: 'b', jobs: null },
    ])
    expect(missed.take(['a'])).toEqual([])
  })
})

async function opened(schema: string, notifier?: false): Promise<FullStore> {
  const store: FullStore = postgres(url, { schema, ...(notifier === undefined ? {} : { notifier }) })
  await store.open()
  onTestFinished(() => store.close())
  return store
}

const wait = (store: FullStore) => store.notifier.wait({ queues: ['a'], timeoutMs: 15_000 })

describe('postgres notifier: between handles', () => {
  test('an open store receives the first notification, and all stores receive the same', async () => {
    const schema = freshSchema(url, 'notify')
    const [here, there] = [await opened(schema), await opened(schema)]
    const waits = [wait(here), wait(here), wait(there)]
    await here.enqueue(someJobs([{ queue: 'a' }, { queue: 'a' }, { queue: 'b' }]))
    const [[first], [second], [third]] = (await Promise.all(waits)) as [WakeUp[], WakeUp[], WakeUp[]]
    expect(first).toMatchObject({ queue: 'a', jobs: 2, skip: 0, passes: true })
    expect([second, third]).toEqual([first, first])
  })

  test('a forwarded wake-up reaches other processes, and not the one that forwards it', async () => {
    const schema = freshSchema(url, 'notify')
    const [here, there] = [await opened(schema), await opened(schema)]
    const mine = here.notifier.wait({ queues: ['a', 'end'], timeoutMs: 15_000 })
    const theirs = wait(there)
    const wakeUp = aWakeUp({ jobs: 2, seed: 4_711, skip: 3 })
    here.notifier.forward(wakeUp)
    expect(await theirs).toEqual([wakeUp])
    there.notifier.notify(['end'])
    expect(await mine).toMatchObject([{ queue: 'end', jobs: null }])
  })

  test('without a notifier, notifications stay in this handle and are not forwarded', async () => {
    const store = await opened(freshSchema(url, 'notify'), false)
    const waits = wait(store)
    await store.enqueue([aJob({ queue: 'a' })])
    expect(await waits).toMatchObject([{ jobs: 1, passes: false }])
    store.notifier.forward(aWakeUp())
  })

  test('a job in an order queue notifies too, because its order lock must be checked', async () => {
    const store = await opened(freshSchema(url, 'notify'), false)
    const waits = wait(store)
    await store.enqueue([aJob({ queue: 'a', orderKey: 'o' })])
    expect(await waits).toMatchObject([{ queue: 'a', jobs: 1 }])
  })

  test('P11 a repeated enqueue notifies again, because the first notification may be lost', async () => {
    const store = await opened(freshSchema(url, 'notify'), false)
    const job = aJob({ queue: 'a' })
    await store.enqueue([job])
    expect(await wait(store)).toHaveLength(1)
    const waits = wait(store)
    await store.enqueue([job], { mayRepeat: true })
    expect(await waits).toMatchObject([{ queue: 'a', jobs: 1 }])
  })

  test('a message in an unknown format wakes every instance', async () => {
    const schema = freshSchema(url, 'notify')
    const store = await opened(schema)
    const waits = wait(store)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(`SELECT pg_notify('jobmill ${schema}', '0190b6c4-0000-7000-8000-000000000000 b')`)
    await client.end()
    expect(await waits).toMatchObject([{ queue: 'a', jobs: null }])
  })

  test('a notification between a claim and the next wait is delivered, and one before the claim is not', async () => {
    const store = await opened(freshSchema(url, 'notify'), false)
    const me = anInstance()
    await store.instances.register(me)
    await store.enqueue([aJob({ queue: 'a' })])
    await store.claim(aClaim(me.id, { queues: [{ queue: 'a', room: 1 }] }))
    await store.enqueue(someJobs([{ queue: 'a' }, { queue: 'a' }]))
    expect(await wait(store)).toMatchObject([{ jobs: 2 }])
    expect(await store.notifier.wait({ queues: ['a'], timeoutMs: 1 })).toEqual([])
  })

  test.each(['enqueue', 'complete'] as const)(
    'N8 %s in a user transaction: others are notified after the commit, and never of rolled-back jobs',
    async (way) => {
      const schema = freshSchema(url, 'notify')
      const [here, there] = [await opened(schema), await opened(schema)]
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      onTestFinished(() => client.end())
      const me = anInstance()
      await here.instances.register(me)
      const write = async (queue: string): Promise<void> => {
        const job = aJob({ queue })
        if (way === 'enqueue') return void (await here.enqueue([job], { tx: client }))
        await here.enqueue([aJob({ queue: 'first' })])
        const [lease] = await here.claim(aClaim(me.id, { queues: [{ queue: 'first', room: 1 }] }))
        const { id = '', token = 0 } = lease ?? {}
        const transition = { to: 'done', result: null } as const
        await here.finish([{ id, token, outcome: 'returned', transition, followUps: [job] }], { tx: client })
      }
      const wakeUps = there.notifier.wait({ queues: ['a', 'rolled-back'], timeoutMs: 15_000 })
      await client.query('BEGIN')
      await write('rolled-back')
      await client.query('ROLLBACK')
      await client.query('BEGIN')
      await write('a')
      await client.query('COMMIT')
      expect((await wakeUps).map(({ queue }) => queue)).toEqual(['a'])
    },
  )
})
