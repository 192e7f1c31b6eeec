// Alert rules of a mill on both stores: findings become signed requests to a real receiver.
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { Dead, defineJob, JobmillError, type MillOptions } from '../../src/index.ts'
import type { TestMill } from '../../src/testing/index.ts'
import type { AlertWrite } from '../../src/store/types/alert.ts'
import { aroundVerbs } from '../../src/store/verbs.ts'
import { happened, lent, subjects } from '../runtime/stores.ts'
import { rejection } from '../unit/support.ts'
import { testMill } from '../../src/testing/index.ts'
import { closedPort, OTHER_SECRET, receiver, SECRET } from './receiver.ts'

const dies = defineJob({
  kind: 'dies',
  queue: 'mail',
  run() {
    throw new Dead('no')
  },
})

/** Runs a pass of the duty, and delivers what it sends. */
async function look(mill: TestMill): Promise<void> {
  await mill.clock.advance('1s')
  await mill.runDuty('alert')
  await mill.drain()
}

async function die(mill: TestMill): Promise<string> {
  const { id } = await mill.enqueue(dies, null)
  await mill.drain()
  return id
}

const jobsOf = async (mill: TestMill) => (await mill.list({ kind: 'jobmill.alert' })).jobs

const mail = (url: string): NonNullable<MillOptions['alerts']> => ({
  ops: { check: 'dead', queue: 'mail', url, secret: SECRET },
})

describe.each(subjects)('alerts on $name', ({ name, mill: fresh }) => {
  const test = inTurns(name, subjects)

  test('a problem and its end arrive, signed, each once', async () => {
    const hook = await receiver()
    const mill = await fresh({ jobs: [dies], alerts: mail(hook.url), instance: { label: 'prod' } })
    await look(mill)
    expect(hook.received).toEqual([])
    const id = await die(mill)
    await look(mill)
    await look(mill)
    await mill.delete(id)
    await look(mill)
    await look(mill)
    expect(hook.received.map(({ body }) => body.type)).toEqual(['jobmill.problem', 'jobmill.recovered'])
    const [problem, recovered] = hook.received
    expect(problem?.body.data).toMatchObject({
      rule: 'ops',
      check: 'dead',
      level: 'notice',
      about: { what: 'queue', name: 'mail' },
      message: 'queue "mail" has 1 dead job',
      fix: 'Review the errors, fix the cause, then retry or delete the jobs',
      label: 'prod',
    })
    expect(recovered?.body.data).toMatchObject({ rule: 'ops', since: problem?.body.data['since'] })
    expect(recovered?.id).not.toBe(problem?.id)
    expect(hook.received.every((one) => hook.isSigned(one) && !hook.isSigned(one, OTHER_SECRET))).toBe(true)
    expect(problem?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^jobmill\//) as string,
    })
  })

  test('a failed delivery is repeated with the same webhook-id and body', async () => {
    const hook = await receiver()
    hook.answers.push(500, 429)
    const mill = await fresh({ jobs: [dies], alerts: mail(hook.url) })
    await die(mill)
    await look(mill)
    await mill.clock.advance('5m')
    await mill.drain()
    expect(hook.received).toHaveLength(3)
    expect(new Set(hook.received.map(({ id }) => id)).size).toBe(1)
    expect(new Set(hook.received.map(({ text }) => text)).size).toBe(1)
    expect(hook.received.every((one) => hook.isSigned(one))).toBe(true)
    expect((await jobsOf(mill)).map(({ state, attempt }) => [state, attempt])).toEqual([['done', 3]])
  })

  test('a message that could not be enqueued, or whose enqueue is not on record, is sent once', async () => {
    const hook = await receiver()
    let failing: 'enqueue' | 'clear' | null = null
    const mill = await fresh({ jobs: [dies], alerts: mail(hook.url) }, (store) =>
      aroundVerbs(store, ['enqueue', 'alerts.put'], (verb, call) => async (...args) => {
        const isClear = verb === 'alerts.put' && (args[0] as AlertWrite).state.outbox.length === 0
        if (failing === (verb === 'enqueue' ? 'enqueue' : isClear ? 'clear' : ''))
          throw new JobmillError('DATA_REFUSED', 'refused by the test')
        return call(...args)
      }),
    )
    // The first pass of the duty, which finds nothing.
    await look(mill)
    await die(mill)
    failing = 'enqueue'
    expect(await rejection(() => mill.runDuty('alert'))).toMatchObject({ code: 'DATA_REFUSED' })
    failing = 'clear'
    expect(await rejection(() => mill.runDuty('alert'))).toMatchObject({ code: 'DATA_REFUSED' })
    failing = null
    await look(mill)
    await look(mill)
    expect(hook.received.map(({ body }) => body.type)).toEqual(['jobmill.problem'])
    expect(await jobsOf(mill)).toHaveLength(1)
  })

  test('a receiver that refuses a message, or redirects it, is not asked again', async () => {
    for (const status of [400, 410, 302]) {
      const hook = await receiver()
      hook.answers.push(status)
      const mill = await fresh({ jobs: [dies], alerts: mail(hook.url) })
      await die(mill)
      await look(mill)
      await mill.clock.advance('1m')
      await mill.drain()
      expect(hook.received).toHaveLength(1)
      const [job] = await jobsOf(mill)
      expect(job).toMatchObject({
        state: 'dead',
        attempt: 1,
        error: expect.stringContaining(String(status)) as string,
      })
    }
  })

  test('no answer, and no receiver, are retried, and no error shows the path of the URL', async () => {
    const host = `127.0.0.1:${await closedPort()}`
    const url = `http://user:pass@${host}/secret-path?token=secret-query`
    const mill = await fresh({ jobs: [dies], alerts: mail(url) })
    await die(mill)
    await look(mill)
    const [job] = await jobsOf(mill)
    expect(job).toMatchObject({ state: 'scheduled', attempt: 1 })
    const [attempt] = await mill.history(job?.id ?? '')
    expect(attempt?.error).toBe(`Error: the webhook ${host} cannot be reached: ECONNREFUSED`)
  })

  test('the secret is in no job, no event and no list', async () => {
    const hook = await receiver()
    const url = hook.url.replace('//', '//user:pass@').concat('?token=secret-query')
    const mill = await fresh({ jobs: [dies], alerts: mail(url) })
    await die(mill)
    await look(mill)
    expect(hook.received[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('user:pass').toString('base64')}`,
    )
    expect(hook.received[0]?.path).toBe('/hook?token=secret-query')
    const [job] = await jobsOf(mill)
    const shown = JSON.stringify([
      await mill.get(job?.id ?? ''),
      await mill.history(job?.id ?? ''),
      await mill.alerts.list(),
      mill.events,
      await mill.diagnostics(),
    ])
    for (const hidden of [SECRET.slice(6), SECRET.slice(6, 30), 'user:pass', 'secret-query'])
      expect(shown).not.toContain(hidden)
    expect(await mill.alerts.list()).toMatchObject([
      { url: `${hook.url}?…`, secretHints: [`whsec_…${SECRET.slice(-4)}`] },
    ])
  })

  test('two secrets sign each message, so that a receiver may know either', async () => {
    const hook = await receiver()
    const mill = await fresh({ jobs: [dies] })
    await mill.alerts.set('ops', { url: hook.url, secret: [OTHER_SECRET, SECRET], check: 'dead' })
    await die(mill)
    await look(mill)
    const [one] = hook.received
    expect(one && [SECRET, OTHER_SECRET].map((secret) => hook.isSigned(one, secret))).toEqual([true, true])
  })

  test('a paused rule sends nothing, also after a restart with the rule in code', async () => {
    const hook = await receiver()
    const options = { jobs: [dies], alerts: mail(hook.url) }
    const mill = await fresh(options)
    await mill.alerts.set('ops', { paused: true })
    const second = await testMill({ ...options, store: () => lent(mill), platform: mill.platform })
    expect(await second.alerts.list()).toMatchObject([{ name: 'ops', paused: true, inCode: true }])
    await second.stop()
    await die(mill)
    await look(mill)
    expect(hook.received).toEqual([])
    await mill.alerts.set('ops', { paused: false })
    await look(mill)
    expect(hook.received).toHaveLength(1)
  })

  test('a rule from code can only be paused, and a changed declaration keeps what was sent', async () => {
    const hook = await receiver()
    const mill = await fresh({ jobs: [dies], alerts: mail(hook.url) })
    expect(await rejection(() => mill.alerts.set('ops', { coolFor: '1m' }))).toMatchObject({
      code: 'OPTION_CONFLICT',
      message:
        'alert.coolFor: the rule is defined in code, so only paused can be changed. Change it in the option alerts of jobmill(), or set a rule with another name.',
    })
    await die(mill)
    await look(mill)
    const second = await testMill({
      jobs: [dies],
      alerts: { ops: { check: 'dead', url: hook.url, secret: SECRET, coolFor: '2h' } },
      store: () => lent(mill),
      platform: mill.platform,
    })
    await look(second)
    expect(await second.alerts.list()).toMatchObject([
      { coolDownMs: 7_200_000, queue: null, problems: [{ sent: 1 }] },
    ])
    await second.stop()
    expect(hook.received).toHaveLength(1)
  })

  test('rules are created, changed and deleted at run time', async () => {
    const hook = await receiver()
    const mill = await fresh({ jobs: [dies] })
    const made = await mill.alerts.set('ops', { check: 'dead', url: hook.url, secret: SECRET, for: '5m' })
    expect(made).toMatchObject({
      checks: ['dead'],
      queue: null,
      forMs: 300_000,
      coolDownMs: 3_600_000,
      inCode: false,
    })
    await die(mill)
    await look(mill)
    expect(await mill.alerts.list()).toMatchObject([
      { problems: [{ check: 'dead', sent: 0 }], lastSentAt: null },
    ])
    expect(hook.received).toEqual([])
    await mill.alerts.set('ops', { for: 0, check: ['dead', 'paused'] })
    await look(mill)
    expect(hook.received).toHaveLength(1)
    expect(await mill.alerts.delete('ops')).toBe(true)
    expect(await mill.alerts.delete('ops')).toBe(false)
    expect(await mill.alerts.list()).toEqual([])
    expect(await rejection(() => mill.alerts.set('ops', { paused: true }))).toMatchObject({
      field: 'alert.url',
    })
  })

  test('a test message is sent, also of a paused rule, and a message of a deleted rule is not', async () => {
    const hook = await receiver()
    const mill = await fresh({ jobs: [dies] })
    await mill.alerts.set('ops', { url: hook.url, secret: SECRET, paused: true })
    const { job } = await mill.alerts.test('ops')
    await look(mill)
    expect(hook.received.map(({ body }) => body.type)).toEqual(['jobmill.test'])
    expect(await mill.get(job)).toMatchObject({ result: { sent: true, answer: 204 } })
    expect(happened(mill, job)).toContain('finished')
    expect(await rejection(() => mill.alerts.test('opps'))).toMatchObject({
      code: 'ALERT_UNKNOWN',
      message: 'name: no alert rule has this name (got "opps"). Did you mean "ops"?',
    })
    await mill.pause('jobmill')
    const late = await mill.alerts.test('ops')
    await mill.alerts.delete('ops')
    await mill.resume('jobmill')
    await mill.clock.advance('1s')
    await mill.drain()
    expect(await mill.get(late.job)).toMatchObject({
      result: { sent: false, answer: 'the rule was deleted' },
    })
    expect(hook.received).toHaveLength(1)
  })

  test('a process without rules neither serves the queue nor reads the diagnostics', async () => {
    const mill = await fresh({ jobs: [dies] })
    expect(await mill.runDuty('alert')).toEqual({ rules: 0, sent: 0 })
    expect(mill.queuesServed).toEqual(['mail'])
    expect((await mill.instances())[0]?.kinds).toEqual(['dies'])
    await mill.alerts.set('ops', { url: 'http://127.0.0.1:1', secret: SECRET })
    await mill.runDuty('alert')
    expect(mill.queuesServed).toEqual(['mail', 'jobmill'])
    expect((await mill.instances())[0]?.kinds).toEqual(['dies', 'jobmill.alert'])
  })
})
