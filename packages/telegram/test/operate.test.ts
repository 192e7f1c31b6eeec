/** Operating on updates through the API of Mission Control. On both stores. */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { anUpdate, saidBy, scene, type Scene, STORES } from './support/scene.ts'

interface Job {
  readonly id: string
  readonly kind: string
  readonly state: string
}

interface Attempt {
  readonly attempt: number
  readonly instance: string | null
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: string
  readonly error: string | null
}

/** The value of one series of the metrics. */
const amount = (text: string, name: string): number =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1),
  )

describe.each(STORES)('operating on %s', (store) => {
  const test = inTurns(store, STORES)
  let at: Scene
  /** How often an update fails before it succeeds, by text. */
  const failures = new Map<string, number>()

  beforeAll(async () => {
    const bot = {
      handler: 'moody',
      async: true,
      requireAuth: false,
      retry: { attempts: 3, backoff: ['0s'], jitterPercent: 0 },
      deadNotice: 'Gave up.',
    }
    at = await scene({
      store,
      yaml: { admin: '127.0.0.1:0' },
      handlers: {
        moody({ text, reply }) {
          const left = failures.get(text) ?? 0
          failures.set(text, left - 1)
          if (left > 0) throw new Error(`not yet, ${left} more`)
          reply(`did ${text}`)
        },
      },
      bots: { one: bot, other: bot, counted: bot },
    })
  })
  afterAll(() => at.stop())

  async function ask<Answer>(path: string, method: 'GET' | 'POST' = 'GET'): Promise<Answer> {
    const json = { 'content-type': 'application/json' }
    const answer = await fetch(`${at.gateway.adminUrl}/api/${path}`, {
      method,
      headers: { connection: 'close', ...(method === 'POST' ? json : {}) },
      ...(method === 'POST' ? { body: '{}' } : {}),
    })
    expect([path, answer.status]).toEqual([path, 200])
    return (await answer.json()) as Answer
  }

  /** The jobs of one bot, in order of arrival. */
  async function listed(...states: readonly string[]): Promise<readonly Job[]> {
    return listedOf('one', ...states)
  }

  async function listedOf(bot: string, ...states: readonly string[]): Promise<readonly Job[]> {
    const { jobs } = await ask<{ readonly jobs: readonly Job[] }>(`jobs?queue=telegram.${bot}`)
    return jobs.filter(({ state }) => states.includes(state)).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }

  test('E10 every attempt is kept with its error, its process and its times, also once it succeeded', async () => {
    const chat = at.chat('one')
    failures.set('third time', 2)
    await at.post('one', anUpdate('third time', { userId: chat.id }))
    await chat.until((all) => all.some(({ by }) => by === 'bot'))
    const [job] = await listed('done')
    const { attempts } = await ask<{ readonly attempts: readonly Attempt[] }>(`jobs/${job?.id}`)
    expect(attempts.map(({ attempt, outcome, error }) => [attempt, outcome, error])).toEqual([
      [1, 'failed', 'Error: not yet, 2 more'],
      [2, 'failed', 'Error: not yet, 1 more'],
      [3, 'returned', null],
    ])
    const { id: instance } = at.gateway.mill.instance ?? {}
    for (const one of attempts) {
      expect(one.instance).toBe(instance)
      expect(one.endedAt).toBeGreaterThanOrEqual(one.startedAt)
    }
    const times = attempts.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt])
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  test('E23 one bot is paused, its updates are listed, cancelled and resumed; other bots are unaffected', async () => {
    const [chat, other] = [at.chat('one'), at.chat('other')]
    await ask('queues/telegram.one/pause', 'POST')
    for (const text of ['unwanted', 'wanted']) await at.post('one', anUpdate(text, { userId: chat.id }))
    await at.post('other', anUpdate('hello', { userId: other.id }))
    await other.until((all) => all.some(({ by }) => by === 'bot'))
    expect(saidBy(chat)).toEqual([])
    const waiting = await listed('ready', 'scheduled')
    expect(waiting.map(({ kind }) => kind)).toEqual(['telegram.one.7000.moody', 'telegram.one.7000.moody'])
    expect(await ask(`jobs/${waiting[0]?.id}/cancel`, 'POST')).toMatchObject({ state: 'cancelled' })
    await ask('queues/telegram.one/resume', 'POST')
    await chat.until((all) => all.some(({ by }) => by === 'bot'))
    expect(saidBy(chat)).toEqual(['did wanted'])
    expect(await listed('cancelled')).toMatchObject([{ id: waiting[0]?.id }])
  })

  test('E23 a dead update is retried and answered', async () => {
    const chat = at.chat('one')
    failures.set('poison', 3)
    await at.post('one', anUpdate('poison', { userId: chat.id }))
    await chat.until((all) => all.some(({ text }) => text === 'Gave up.'))
    const [dead] = await listed('dead')
    expect(await ask(`jobs/${dead?.id}/retry`, 'POST')).toMatchObject({ verdict: 'changed' })
    await chat.until((all) => all.some(({ text }) => text === 'did poison'))
    expect(await listed('dead')).toEqual([])
  })

  test('E24 the metrics cover the queues of a bot: backlog, age, waits, runs, failures and cleanup', async () => {
    // A separate bot, because metrics are sums over a queue.
    const chat = at.chat('counted')
    failures.set('third time', 2)
    failures.set('poison', 3)
    const update = anUpdate('third time', { userId: chat.id })
    for (const result of ['queued', 'duplicate'])
      expect(await (await at.post('counted', update)).json()).toMatchObject({ result })
    await at.post('counted', anUpdate('poison', { userId: chat.id }))
    await chat.until((all) => all.some(({ text }) => text === 'Gave up.'))
    const [dead] = await listedOf('counted', 'dead')
    await ask(`jobs/${dead?.id}/retry`, 'POST')
    await expect.poll(async () => (await listedOf('counted', 'ready', 'scheduled', 'running')).length).toBe(0)
    await at.gateway.mill.pause('telegram.counted')
    // Updates without a chat, so that they have no order key.
    for (const id of [1, 2]) await at.post('counted', { update_id: id, poll: {} })
    const [unwanted] = await listedOf('counted', 'ready')
    await ask(`jobs/${unwanted?.id}/cancel`, 'POST')
    const metrics = async (): Promise<string> =>
      (await fetch(`${at.gateway.adminUrl}/metrics`, { headers: { connection: 'close' } })).text()
    await expect
      .poll(async () => amount(await metrics(), 'jobmill_oldest_ready_seconds{queue="telegram.counted"}'))
      .toBeGreaterThan(0)
    const text = await metrics()
    const of = (name: string, more = ''): number =>
      amount(text, `jobmill_${name}{queue="telegram.counted"${more}}`)
    expect(of('jobs', ',state="ready"')).toBe(1)
    expect(of('jobs', ',state="cancelled"')).toBe(1)
    // Both updates, and the notice for the dead one.
    expect(of('jobs', ',state="done"')).toBe(3)
    expect(of('jobs', ',state="dead"')).toBe(0)
    expect(of('queue_paused')).toBe(1)
    const attempts = of('jobs_claimed_total')
    expect(of('job_wait_seconds_count')).toBe(attempts)
    expect(of('job_run_seconds_count')).toBe(attempts)
    // Two before the third attempt, and two of the dead one.
    expect(of('retries_total')).toBe(4)
    expect(of('jobs_dead_total')).toBe(1)
    expect(amount(text, 'jobmill_telegram_updates_total{bot="counted",result="duplicate"}')).toBe(1)
    expect(amount(text, 'jobmill_lease_losses_total')).toBe(0)
    expect(amount(text, 'jobmill_reaped_jobs_total')).toBe(0)
    for (const duty of ['retain', 'telegram', 'reap'])
      expect([duty, amount(text, `jobmill_duty_runs_total{duty="${duty}"}`)]).toEqual([
        duty,
        expect.toSatisfy((n: number) => n > 0),
      ])
    // Deleted jobs are counted.
    await at.gateway.mill.changeQueue('telegram.counted', { retain: { cancelled: '0s' } })
    await at.gateway.mill.runDuty('retain')
    expect(amount(await metrics(), 'jobmill_swept_rows_total{outcome="cancelled"}')).toBe(1)
    await at.gateway.mill.resume('telegram.counted')
  })
})
