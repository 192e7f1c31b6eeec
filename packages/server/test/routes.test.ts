/**
 * Every route over a real socket, checked against the OpenAPI document: on PostgreSQL, and every night on
 * both stores. The last test lists forgotten routes.
 */
import { describe, expect, onTestFinished, test } from 'vitest'
import { inFull } from '../../../test/support/suite/in-full.ts'
import {
  type Answer,
  checkAnswer,
  type Declared,
  type Document,
  documentOf,
  operationsOf,
  request,
} from './calls.ts'
import { httpApi } from '../src/index.ts'
import { defineJob } from '../../jobmill/src/index.ts'
import type { FullStore } from '../../jobmill/src/index.ts'
import { anInstance } from '../../conformance/src/factories.ts'
import { bench, type Bench, subjects } from './mills.ts'

interface Scene extends Bench {
  readonly store: FullStore<never>
  readonly call: (
    name: string,
    at?: Record<string, string>,
    body?: unknown,
    query?: string,
  ) => Promise<Answer>
}

describe.each(inFull(subjects, subjects.slice(-1)))('the API on $name', ({ name, store }) => {
  const called = new Set<string>()
  let all: readonly Declared[] = []

  async function scene(options: Parameters<typeof bench>[1] = {}): Promise<Scene> {
    const own = store()
    const made = await bench(own, options)
    const document: Document = await documentOf(made.url)
    all = operationsOf(document)
    return {
      ...made,
      store: own,
      async call(operation, at = {}, body, query = '') {
        const declared = all.find((one) => one.name === operation)
        if (declared === undefined) throw new Error(`there is no operation ${operation}`)
        const path = declared.path.replace(/\{(\w+)\}/g, (_, key: string) =>
          encodeURIComponent(at[key] ?? ''),
        )
        const answer = await request(made.url, declared.method, `${path}${query}`, { body })
        checkAnswer(document, declared, answer)
        if (answer.status < 300) called.add(operation)
        return answer
      },
    }
  }

  test('a job can be enqueued, found, read and deleted', async () => {
    const { call, mill } = await scene()
    const made = await call('jobs.enqueue', {}, { kind: 'echo', payload: { to: 'ada' }, tags: ['x'] })
    expect(made.status).toBe(201)
    const { id } = made.body as { id: string }
    await mill.job(id).result()
    expect((await call('jobs.list', {}, undefined, '?tag=x&state=done&limit=1')).body).toMatchObject({
      jobs: [{ id, state: 'done' }],
    })
    // N10 and A: several names, states and parts, repeated or comma-separated.
    const several = '?state=done,retrying&kind=echo&kind=other&queue=default,none&include=payload,result'
    expect((await call('jobs.list', {}, undefined, several)).body).toMatchObject({
      jobs: [{ id, error: null, payload: { to: 'ada' }, result: { to: 'ada' } }],
      next: null,
    })
    expect((await call('jobs.count', {}, undefined, '?state=done,retrying&kind=echo')).body).toEqual({
      jobs: 1,
      byState: { done: 1, retrying: 0 },
    })
    expect((await call('jobs.list', {}, undefined, '?state=done&endedBefore=1')).body).toMatchObject({
      jobs: [],
    })
    const ranges = '&startedFrom=1&startedBefore=7000000000000&endedFrom=1'
    expect((await call('jobs.count', {}, undefined, `?state=done${ranges}`)).body).toMatchObject({ jobs: 1 })
    for (const none of [
      'version=2.0',
      'failedFrom=1',
      'failedBefore=7000000000000',
      'orderKey=o',
      'dedupeKey=k',
    ])
      expect((await call('jobs.count', {}, undefined, `?${none}`)).body).toMatchObject({ jobs: 0 })
    expect((await call('jobs.inspect', { id })).body).toMatchObject({
      job: { id, payload: { to: 'ada' }, result: { to: 'ada' }, progress: null },
      attempts: [{ attempt: 1, outcome: 'returned', log: [{ message: 'seen', fields: { apiKey: 'k' } }] }],
      why: { state: 'done', reasons: [] },
    })
    expect((await call('jobs.retry', { id })).body).toMatchObject({ code: 'STATE_WRONG', status: 409 })
    expect((await call('jobs.delete', { id })).body).toMatchObject({ verdict: 'changed', state: null })
    expect((await call('jobs.inspect', { id })).body).toMatchObject({ code: 'JOB_UNKNOWN', status: 404 })
    expect((await call('jobs.inspect', { id: 'x' })).body).toMatchObject({ code: 'ID_INVALID', status: 400 })
  })

  test('many jobs are enqueued, all or none', async () => {
    const { call, mill } = await scene({ work: false })
    const jobs = Array.from({ length: 300 }, (_, n) => ({ payload: n, delay: '1h' }))
    expect((await call('jobs.enqueue-many', {}, { kind: 'echo', jobs })).status).toBe(201)
    const bad = await call(
      'jobs.enqueue-many',
      {},
      { kind: 'echo', jobs: [{ payload: 1 }, { payload: 2, delay: 'x' }] },
    )
    expect(bad.body).toMatchObject({
      status: 400,
      code: 'DURATION_INVALID',
      index: 1,
      field: 'jobs.1.delay',
    })
    expect(await mill.counts()).toMatchObject([{ scheduled: 300 }])
  })

  test('a duplicate is reported, and a second page continues after the first', async () => {
    const { call } = await scene({ work: false })
    const job = { kind: 'echo', dedupeKey: 'k' }
    const first = await call('jobs.enqueue', {}, job)
    const second = await call('jobs.enqueue', {}, job)
    expect([first.status, second.status]).toEqual([201, 200])
    expect(second.body).toEqual({ ...(first.body as object), outcome: 'duplicate' })
    await call('jobs.enqueue', {}, { kind: 'echo' })
    const page = (await call('jobs.list', {}, undefined, '?limit=1')).body as {
      next: string
      jobs: { id: string }[]
    }
    const next = await call('jobs.list', {}, undefined, `?limit=1&cursor=${page.next}`)
    expect((next.body as typeof page).jobs[0]?.id).not.toBe(page.jobs[0]?.id)
    expect((await call('jobs.list', {}, undefined, `?cursor=zzz`)).body).toMatchObject({
      code: 'CURSOR_INVALID',
    })
  })

  test('a window, a key until the start and a debounce apply to repeated enqueues', async () => {
    const { call } = await scene({ work: false })
    const bodyOf = async (job: object): Promise<unknown> =>
      (await call('jobs.enqueue', {}, { kind: 'echo', ...job })).body
    for (const dedupe of [
      { key: 'w', window: '10m' },
      { key: 's', until: 'started' },
    ]) {
      const first = (await bodyOf({ dedupe })) as object
      expect(first).toMatchObject({ outcome: 'enqueued' })
      expect(await bodyOf({ dedupe })).toEqual({ ...first, outcome: 'duplicate' })
    }
    const debounce = { key: 'd', wait: '1h', maxWait: '2h' }
    const first = (await bodyOf({ debounce, payload: 1 })) as { id: string }
    expect(await bodyOf({ debounce, payload: 2 })).toEqual({ ...first, outcome: 'replaced' })
    const { body } = await call('jobs.inspect', { id: first.id })
    expect(body).toMatchObject({ job: { payload: 2, state: 'scheduled', dedupeKey: 'debounce echo d' } })
    expect(await bodyOf({ debounce, orderKey: 'o' })).toMatchObject({
      code: 'OPTION_CONFLICT',
      field: 'debounce',
    })
  })

  test('N5 a job with an existing id is left unchanged, and the response is the same', async () => {
    const { call } = await scene({ work: false })
    const id = '0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e'
    const first = await call('jobs.enqueue', {}, { kind: 'echo', id, payload: 1 })
    const second = await call('jobs.enqueue', {}, { kind: 'echo', id, payload: 2 })
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toEqual(first.body)
    expect((await call('jobs.inspect', { id })).body).toMatchObject({ job: { id, payload: 1 } })
  })

  test('events continue a job that waits in a step, by id and by dedupe key', async () => {
    const { call, mill } = await scene()
    const job = await mill.enqueue('echo', 1, { delay: '1h', dedupeKey: 'waits' })
    expect((await call('jobs.send-event', { id: job.id }, { event: 'paid' })).body).toEqual({ id: job.id })
    const byKey = await call('jobs.send-event-by-key', {}, { dedupeKey: 'waits', event: 'paid', payload: 1 })
    expect(byKey.body).toEqual({ id: job.id })
    expect((await call('jobs.steps', { id: job.id })).body).toEqual({ steps: [], parent: null })
  })

  test('a job runs again from one of its steps, or as a copy', async () => {
    const { call, mill } = await scene()
    const job = await mill.enqueue('counts', null)
    await job.result()
    const forked = await call('jobs.fork', { id: job.id }, { from: 'count', payload: 2 })
    const { id } = forked.body as { id: string }
    expect(await mill.get(id)).toMatchObject({ kind: 'counts', payload: 2 })
    const unknown = await call('jobs.fork', { id: job.id }, { from: 'none' })
    expect(unknown.body).toMatchObject({ code: 'STEP_UNKNOWN', field: 'from' })
    const rewound = await call('jobs.rewind', { id: job.id }, { from: 'count' })
    expect(rewound.body).toMatchObject({ id: job.id, verdict: 'changed', state: 'ready' })
    const later = await mill.enqueue('echo', 1, { delay: '1h' })
    expect((await call('jobs.rewind', { id: later.id }, { from: 'a' })).body).toMatchObject({
      code: 'STEP_UNKNOWN',
    })
  })

  test('one or many jobs can be retried, run now and cancelled', async () => {
    const { call, mill } = await scene()
    const dead = await mill.enqueue('dies', null)
    await dead.result().catch(() => {})
    expect((await call('jobs.retry', { id: dead.id })).body).toMatchObject({ verdict: 'changed' })
    const later = await mill.enqueue('echo', 1, { delay: '1h' })
    expect((await call('jobs.run-now', { id: later.id })).body).toMatchObject({
      verdict: 'changed',
      state: 'ready',
    })
    expect(await later.result()).toBe(1)
    expect((await call('jobs.cancel', { id: later.id })).body).toMatchObject({ code: 'STATE_WRONG' })
    const running = await mill.enqueue('holds', null)
    const asked = await call('jobs.cancel', { id: running.id }, { reason: 'enough' })
    expect(asked.body).toMatchObject({ id: running.id, verdict: 'changed' })
    await expect(running.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED' })

    await dead.result().catch(() => {})
    expect((await call('bulk.preview', {}, undefined, '?act=retry&kind=dies')).body).toEqual({
      jobs: 1,
      byState: { dead: 1 },
    })
    const range = { kind: 'dies', failedFrom: 1, failedBefore: 7e12, version: ['2.15.0', '2.14.0'] }
    const query = new URLSearchParams({ act: 'delete', kind: 'dies', failedFrom: '1', version: '2.15.0' })
    expect(
      (await call('bulk.preview', {}, undefined, `?${query.toString()}&failedBefore=1`)).body,
    ).toMatchObject({
      jobs: 0,
    })
    const bulk = await call('bulk.run', {}, { act: 'delete', filter: range })
    expect(bulk.status).toBe(202)
    const { id } = bulk.body as { id: string }
    expect(await mill.job(id).result()).toEqual({ looked: 1, changed: 1, refused: 0 })
    expect((await call('bulk.run', {}, { act: 'retry', filter: { state: 'done' } })).body).toMatchObject({
      code: 'OPTION_INVALID',
      field: 'filter.state',
    })
  })

  test('jobs and errors can be searched, and bulk actions use the same filters', async () => {
    const { call, mill } = await scene()
    const ada = await mill.enqueue('echo', { user: { 'a.b': 'x:y', id: 42 }, text: 'é'.repeat(50) })
    const eve = await mill.enqueue('echo', { user: { id: 43 } })
    const [dead, also] = [await mill.enqueue('dies', 1), await mill.enqueue('dies', 2)]
    await Promise.allSettled([ada, eve, dead, also].map((one) => one.result()))

    const ids = async (query: string): Promise<string[]> => {
      const { body } = await call('jobs.list', {}, undefined, query)
      return (body as { jobs: { id: string }[] }).jobs.map(({ id }) => id)
    }
    expect(await ids('?payloadAt=user.id:42')).toEqual([ada.id])
    expect(
      await ids(`?payloadAt=user.id:42&payloadAt=${encodeURIComponent(String.raw`user.a\.b:x:y`)}`),
    ).toEqual([ada.id])
    expect(await ids('?payloadAt=user.id:42&payloadAt=user.id:43')).toEqual([])
    expect(await ids('?indexedPayload=user.id:42')).toEqual([])
    expect((await call('jobs.list', {}, undefined, '?indexedPayload=user%20id:42')).body).toMatchObject({
      code: 'OPTION_INVALID',
      field: 'indexedPayload.0.path',
    })
    expect((await ids('?errorText=Dead:%20no')).toSorted()).toEqual([dead.id, also.id].toSorted())
    expect((await call('jobs.list', {}, undefined, '?payloadAt=user.id')).body).toMatchObject({
      code: 'OPTION_INVALID',
      field: 'payloadAt',
      fix: 'Pass a path, a colon and a value, such as user.id:42',
    })
    const tags = Array.from({ length: 1_000 }, (_, n) => `tag=${n}`).join('&')
    expect((await call('jobs.list', {}, undefined, `?${tags}`)).body).toMatchObject({
      code: 'OPTION_INVALID',
      field: 'tag',
      fix: 'Pass at most 20',
    })
    expect((await call('jobs.list', {}, undefined, '?errorText=')).body).toMatchObject({
      field: 'errorText',
    })

    for (const name of ['queue', 'kind', 'tag', 'payloadText'])
      expect((await call('jobs.list', {}, undefined, `?${name}=%00`)).status).toBe(400)

    const cut = await call('jobs.inspect', { id: ada.id }, undefined, '?largest=100')
    expect(cut.body).toMatchObject({
      job: { payload: null, result: null },
      left: { payload: 140, result: 140 },
    })
    const whole = await call('jobs.inspect', { id: ada.id }, undefined, '?largest=140')
    expect(whole.body).toMatchObject({ job: { payload: { user: { id: 42 } } } })
    expect((whole.body as { left: object }).left).toEqual({})
    expect(((await call('jobs.inspect', { id: ada.id })).body as { left: object }).left).toEqual({})

    const { groups } = (await call('errors.list', {}, undefined, '?kind=dies')).body as {
      groups: { fingerprint: string }[]
    }
    expect(groups).toMatchObject([{ kind: 'dies', shape: 'Dead: no', dead: 2, queues: ['default'] }])
    const [{ fingerprint } = { fingerprint: '' }] = groups
    expect((await call('jobs.inspect', { id: dead.id })).body).toMatchObject({ fingerprint })
    expect(whole.body).toMatchObject({ fingerprint: null })
    const preview = async (query: string): Promise<unknown> =>
      (await call('bulk.preview', {}, undefined, query)).body
    expect(await preview(`?act=retry&fingerprint=${fingerprint}`)).toEqual({ jobs: 2, byState: { dead: 2 } })
    expect(await preview(`?act=delete&id=${dead.id}&id=${ada.id}`)).toEqual({
      jobs: 2,
      byState: { done: 1, dead: 1 },
    })
    expect(await preview(`?act=delete&id=${dead.id}&queue=default`)).toMatchObject({
      code: 'OPTION_CONFLICT',
      field: 'queue',
    })
    const run = async (act: string, filter: object): Promise<unknown> => {
      const { body } = await call('bulk.run', {}, { act, filter })
      return mill.job((body as { id: string }).id).result()
    }
    expect(await run('delete', { payloadAt: ['user.id:43'] })).toMatchObject({ changed: 1 })
    expect(await run('delete', { ids: [dead.id] })).toMatchObject({ changed: 1 })
    expect(await run('delete', { fingerprint })).toMatchObject({ changed: 1 })
    expect(await mill.counts()).toMatchObject([{ queue: 'default', done: 1, dead: 0 }, {}])
    for (const filter of [{ ids: [] }, { payloadAt: ['x'] }, { fingerprint: 'x' }, { errorText: '' }])
      expect((await call('bulk.run', {}, { act: 'delete', filter })).status).toBe(400)
  })

  test('a payload with several errors reports each with its path', async () => {
    const payload = {
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        validate: (value: unknown) => ({
          issues: ['to', 'subject', 'cc'].map((key) => ({ message: `bad ${typeof value}`, path: [key, 0] })),
        }),
      },
    }
    const mail = defineJob({ kind: 'mail', payload, run: () => 1 })
    const { call } = await scene({ work: false, mill: { jobs: [mail], schedules: [] } })
    const one = await call('jobs.enqueue', {}, { kind: 'mail', payload: {} })
    expect(one.body).toMatchObject({
      field: 'payload.to.0',
      detail:
        'payload.to.0: does not match its schema: bad object; payload.subject.0: bad object; payload.cc.0: bad object.',
    })
    const many = await call('jobs.enqueue-many', {}, { kind: 'mail', jobs: [{ payload: 1 }] })
    expect(many.body).toMatchObject({
      detail:
        'jobs.0.payload.to.0: does not match its schema: bad number; jobs.0.payload.subject.0: bad number; jobs.0.payload.cc.0: bad number.',
    })
  })

  test('P7 a process is made quiet, resumed and stopped, and the audit log says by whom', async () => {
    const { call, mill, store } = await scene({ work: false })
    const { id } = anInstance({ leaseMs: 60_000 })
    await store.instances.register(anInstance({ id, label: 'web-1', leaseMs: 60_000 }))
    const quiet = await call('workers.quiet', { id })
    expect(quiet.body).toMatchObject({ id, state: 'alive', requested: 'quiet' })
    const { requestedBy } = quiet.body as { requestedBy: string }
    expect((await call('workers.list')).body).toMatchObject({
      instances: [{ id, requested: 'quiet', requestedBy }],
    })
    expect((await call('workers.resume', { id })).body).toMatchObject({ requested: null, requestedBy: null })
    expect((await call('workers.stop', { id })).body).toMatchObject({ requested: 'stop' })
    expect((await call('workers.resume', { id })).body).toMatchObject({ code: 'INSTANCE_ENDED', status: 409 })
    expect((await call('workers.quiet', { id: 'nope' })).body).toMatchObject({
      code: 'ID_INVALID',
      field: 'id',
    })
    expect(
      (await call('workers.quiet', { id: id.replace(/.$/, id.endsWith('0') ? '1' : '0') })).body,
    ).toMatchObject({
      code: 'INSTANCE_UNKNOWN',
      status: 404,
      field: 'id',
      fix: 'Use the id of a running process from GET /api/workers',
    })
    const { entries } = await mill.audit.list()
    expect(
      entries.map(({ who, what, target, before, after }) => ({ who, what, target, before, after })),
    ).toEqual(
      [
        ['workers.stop', null, 'stop'],
        ['workers.resume', 'quiet', null],
        ['workers.quiet', null, 'quiet'],
      ].map(([what, before, after]) => ({
        who: requestedBy,
        what,
        target: 'web-1',
        before: { requested: before },
        after: { instance: id, requested: after },
      })),
    )
  })

  test('views are saved, listed and deleted, and a name that is taken or invalid is refused', async () => {
    const { call, mill } = await scene()
    const search = 'queue=default&state=dead'
    const saved = await call('views.add', {}, { name: 'Dead / ada', search })
    expect(saved).toMatchObject({ status: 201, body: { name: 'Dead / ada', search } })
    expect((await call('views.list')).body).toEqual({ views: [saved.body] })
    expect(await call('views.add', {}, { name: 'Dead / ada', search: 'state=dead' })).toMatchObject({
      status: 409,
      body: { code: 'VIEW_EXISTS', field: 'name', fix: 'Use another name, or delete that view first' },
    })
    for (const name of ['', ' ', 'x'.repeat(61)])
      expect(await call('views.add', {}, { name, search })).toMatchObject({
        status: 400,
        body: { code: 'NAME_INVALID', field: 'name' },
      })
    expect(await call('views.add', {}, { name: 'a', search: '' })).toMatchObject({
      status: 400,
      body: { field: 'search' },
    })
    expect((await call('views.delete', { name: 'Dead / ada' })).status).toBe(204)
    expect(await call('views.delete', { name: 'Dead / ada' })).toMatchObject({
      status: 404,
      body: { code: 'VIEW_UNKNOWN', fix: 'Use a name from GET /api/views' },
    })
    expect((await mill.audit.list()).entries).toMatchObject([
      { what: 'views.delete', target: 'Dead / ada', before: { search } },
      { what: 'views.add', target: 'Dead / ada', after: { search } },
    ])
  })

  test('queues, limits and schedules can be read and changed', async () => {
    const { call } = await scene({ work: false })
    expect((await call('queues.list')).body).toMatchObject({ queues: [{ settings: { name: 'default' } }] })
    expect((await call('queues.pause', { name: 'default' })).body).toMatchObject({ paused: true })
    expect((await call('queues.resume', { name: 'default' })).body).toMatchObject({ paused: false })
    const change = { workers: 3, backoff: { base: '1s' }, retain: { done: '1d' }, limit: 'smtp' }
    expect((await call('queues.change', { name: 'default' }, change)).body).toMatchObject({
      workers: 3,
      backoffBaseMs: 1_000,
      retainDoneMs: 86_400_000,
      limit: 'smtp',
    })
    expect((await call('queues.pause', { name: 'a/b' })).body).toMatchObject({
      code: 'QUEUE_UNKNOWN',
      status: 404,
      field: 'name',
      fix: 'Use GET /api/queues to see all queues. The first job of a queue creates it',
    })
    for (const id of ['queues.pause', 'queues.resume', 'queues.change'] as const)
      expect(
        (await call(id, { name: 'defualt' }, id === 'queues.change' ? {} : undefined)).body,
      ).toMatchObject({
        code: 'QUEUE_UNKNOWN',
        detail: 'name: no queue has this name (got "defualt"). Did you mean "default"?',
      })
    // N1: overrides are listed with the name of the token, and reset one by one, for one queue, and all.
    const options = async (): Promise<string[]> => {
      const { body } = await call('overrides.list')
      const { overrides } = body as { overrides: { option: string; by: string }[] }
      expect(new Set(overrides.map(({ by }) => by)).size).toBeLessThanOrEqual(1)
      return overrides.map(({ option, by }) => `${option} by ${by}`)
    }
    const who = (await options())[0]?.split(' by ')[1] ?? ''
    expect(await options()).toEqual(
      ['backoff.base', 'limit', 'retain.done', 'workers'].map((option) => `${option} by ${who}`),
    )
    const one = { what: 'queue', name: 'default' }
    expect((await call('overrides.reset-option', { ...one, option: 'workers' })).body).toMatchObject({
      reset: [{ ...one, option: 'workers', value: 3, by: who }],
    })
    expect((await call('overrides.reset-option', { ...one, option: 'worker' })).body).toMatchObject({
      code: 'OPTION_UNKNOWN',
      field: 'option',
    })
    expect((await call('overrides.reset', { what: 'queue', name: 'a/b' })).status).toBe(404)
    expect((await call('overrides.reset', one)).body).toMatchObject({
      reset: [{ option: 'backoff.base' }, { option: 'limit' }, { option: 'retain.done' }],
    })
    await call('queues.change', { name: 'default' }, change)
    // A caller that names one queue must not be advised to reset all of them.
    const instead = { code: 'OPTION_UNKNOWN', fix: 'Use DELETE /api/overrides/queue/default' }
    const asQuery = await call('overrides.reset-all', {}, undefined, '?what=queue&name=default')
    expect(asQuery).toMatchObject({ status: 400, body: instead })
    expect(await call('overrides.reset-all', {}, one)).toMatchObject({ status: 400, body: instead })
    expect((await call('overrides.reset-all', {}, { ...one, option: 'retain.done' })).body).toMatchObject({
      fix: 'Use DELETE /api/overrides/queue/default/retain.done',
    })
    expect((await call('overrides.reset-all', {}, undefined, '?queue=default')).body).toMatchObject({
      fix: 'Use DELETE /api/overrides/{what}/{name}, such as /api/overrides/queue/mail. DELETE /api/overrides without parameters resets all overrides',
    })
    // S low: an empty body could mean "reset nothing".
    for (const empty of [{}, [], null, '', 0, false])
      expect(await call('overrides.reset-all', {}, empty)).toMatchObject({
        status: 400,
        body: { code: 'OPTION_UNKNOWN', detail: 'this route takes no body' },
      })
    expect((await call('overrides.reset-all')).body).toMatchObject({ reset: { length: 4 } })
    // Compared with the effective value, which is 30m.
    const backoff = { base: '31m' }
    expect((await call('queues.change', { name: 'default' }, { workers: 7, backoff })).body).toMatchObject({
      code: 'OPTION_CONFLICT',
      field: 'backoff.base',
      detail:
        'backoff.base: must not be longer than backoff.max, which is 30m (got 31m). Raise max or lower base.',
    })
    expect((await call('overrides.list')).body).toEqual({ overrides: [] })
    expect(await options()).toEqual([])
    await call('queues.change', { name: 'default' }, change)

    const hook = { url: 'https://example.com/hook', secret: `whsec_${'A'.repeat(32)}` }
    expect((await call('alerts.set', { name: 'ops' }, { check: 'dead', ...hook })).status).toBe(200)
    expect((await call('alerts.list')).body).toMatchObject({ alerts: [{ name: 'ops', paused: false }] })
    expect((await call('alerts.test', { name: 'ops' })).status).toBe(202)
    expect((await call('alerts.delete', { name: 'ops' })).status).toBe(204)
    expect((await call('alerts.delete', { name: 'ops' })).body).toMatchObject({
      code: 'ALERT_UNKNOWN',
      detail: 'name: no alert rule has this name (got "ops"). Use a name from GET /api/alerts.',
    })

    expect((await call('queues.change', { name: 'default' }, { groups: { fair: true } })).body).toMatchObject(
      {
        groupFair: true,
      },
    )
    const acme = { name: 'default', group: 'acme' }
    expect((await call('groups.change', acme, { weight: 2, paused: true })).body).toMatchObject({
      name: 'acme',
      weight: 2,
      paused: true,
    })
    expect((await call('groups.list', { name: 'default' })).body).toMatchObject({
      groups: [{ name: 'acme', waiting: 0, overrides: { weight: 2 } }],
    })
    expect((await call('groups.change', acme, { weight: 0 })).body).toMatchObject({
      status: 400,
      field: 'weight',
    })

    expect((await call('limits.create', {}, { name: 'db', concurrency: 2 })).status).toBe(201)
    expect((await call('limits.create', {}, { name: 'db', concurrency: 3 })).status).toBe(409)
    expect((await call('limits.change', { name: 'db' }, { concurrency: 5 })).body).toMatchObject({
      available: 5,
    })
    expect((await call('limits.drain', { name: 'smtp' }, { retryAfter: '30s' })).body).toMatchObject({
      name: 'smtp',
    })
    expect((await call('limits.delete', { name: 'db' })).status).toBe(204)
    const chat = { name: 'chat', rate: 1, burst: 3, perKey: true }
    expect((await call('limits.create', {}, chat)).body).toMatchObject({
      settings: { type: 'rate', amount: 1, perMs: 1_000, burst: 3, perKey: true },
      keys: 0,
    })
    expect(
      (await call('limits.drain', { name: 'chat' }, { key: 'bot 7', retryAfter: '30s' })).body,
    ).toMatchObject({
      name: 'chat',
      drainedMs: expect.closeTo(30_000, -4) as number,
      keys: 1,
    })
    expect((await call('limits.drain', { name: 'chat' }, {})).body).toMatchObject({
      code: 'OPTION_CONFLICT',
      field: 'key',
    })
    expect((await call('limits.change', { name: 'chat' }, { perKey: false })).body).toMatchObject({
      code: 'OPTION_CONFLICT',
      field: 'perKey',
    })
    expect((await call('limits.delete', { name: 'chat' })).status).toBe(204)
    expect((await call('limits.delete', { name: 'smtp' })).body).toMatchObject({
      code: 'LIMIT_IN_USE',
      status: 409,
    })
    expect((await call('limits.list')).body).toMatchObject({
      limits: [{ name: 'smtp', queues: ['default'] }],
    })

    const hourly = { name: 'hourly', job: 'echo', when: '@hourly', payload: { a: 1 }, missed: { all: '2h' } }
    // No route shadows a name.
    await call('schedules.create', {}, { name: 'next', job: 'echo', when: '@daily' })
    expect((await call('schedules.inspect', { name: 'next' })).body).toMatchObject({
      schedule: { name: 'next' },
    })
    await call('schedules.delete', { name: 'next' })
    expect((await call('schedules.create', {}, hourly)).status).toBe(201)
    expect((await call('schedules.create', {}, hourly)).body).toMatchObject({
      code: 'SCHEDULE_EXISTS',
      status: 409,
    })
    expect((await call('schedules.list')).body).toMatchObject({
      schedules: [{ name: 'hourly', lastState: null, runs: [] }, { name: 'nightly' }],
    })
    expect((await call('schedules.change', { name: 'hourly' }, { when: 'every 2h' })).body).toMatchObject({
      when: 'every 2h',
    })
    expect((await call('schedules.pause', { name: 'hourly' })).body).toMatchObject({
      paused: true,
      nextAt: null,
    })
    expect((await call('schedules.resume', { name: 'hourly' })).body).toMatchObject({ paused: false })
    expect((await call('schedules.trigger', { name: 'hourly' })).body).toMatchObject({ outcome: 'enqueued' })
    const delayed = await call('schedules.trigger', { name: 'hourly' }, { delay: '1h' })
    const { job } = delayed.body as { job: string }
    expect((await call('jobs.inspect', { id: job })).body).toMatchObject({ job: { state: 'scheduled' } })
    expect((await call('schedules.inspect', { name: 'nightly' })).body).toMatchObject({
      schedule: { kind: 'echo' },
    })
    expect(
      (await call('schedules.next', {}, undefined, '?when=0+6+*+*+1&zone=Europe/Berlin&count=2')).body,
    ).toMatchObject({
      text: 'at 06:00 on Monday, Europe/Berlin time',
    })
    expect((await call('schedules.delete', { name: 'hourly' })).status).toBe(204)
    expect((await call('schedules.delete', { name: 'hourly' })).status).toBe(404)
    // N1: a schedule in code is back once its deletion is reset.
    expect((await call('schedules.delete', { name: 'nightly' })).status).toBe(204)
    const deleted = {
      what: 'schedule',
      name: 'nightly',
      option: 'deleted',
      value: true,
      code: false,
      by: who,
    }
    const { overrides } = (await call('overrides.list')).body as { overrides: unknown[] }
    expect(overrides).toContainEqual(expect.objectContaining(deleted))
    const target = { what: 'schedule', name: 'nightly', option: 'deleted' }
    expect((await call('overrides.reset-option', target)).body).toMatchObject({ reset: [deleted] })
    expect((await call('schedules.inspect', { name: 'nightly' })).status).toBe(200)
  })

  test('the overview, workers, duties, metrics, the timeline and the audit log are served', async () => {
    const { call, mill } = await scene()
    // A process counts a job when it emits this event. `result()` may resolve earlier: it reads the database.
    const counted = new Promise((resolve) => void mill.on('finished', resolve))
    await mill.enqueue('echo', 1)
    await counted
    await mill.runDuty('flush')
    expect((await call('overview.read')).body).toMatchObject({
      you: { name: 'local', role: 'admin' },
      degraded: [],
      problems: { error: 0, warning: 0, notice: 0 },
      queues: expect.arrayContaining([
        expect.objectContaining({ health: { word: 'ok', attempts: 1, failed: 0 } }),
      ]) as unknown[],
    })
    expect((await call('workers.list')).body).toMatchObject({
      here: mill.instance.id,
      instances: [{ state: 'alive' }],
    })
    expect((await call('versions.list')).body).toMatchObject({
      versions: [{ version: '2.15.0', instances: 1, alive: 1 }],
    })
    expect((await call('duties.run', { name: 'retain' })).body).toHaveProperty('counts')
    expect((await call('duties.run', { name: 'nothing' })).status).toBe(404)
    const series = await call('series.read', {}, undefined, '?queue=default&resolution=10s')
    expect(series.body).toMatchObject({ queues: [{ queue: 'default', all: { counters: { done: 1 } } }] })
    expect((await call('series.read', {}, undefined, '?limit=smtp')).body).toMatchObject({ queues: [] })
    const kinds = await call('series.read', {}, undefined, '?kind=echo')
    expect(kinds.body).toMatchObject({ queues: [], kinds: [{ kind: 'echo', all: { ended: { done: 1 } } }] })
    expect((await call('workers.runs')).body).toMatchObject({
      completeFrom: null,
      runs: expect.arrayContaining([
        expect.objectContaining({ kind: 'echo', instance: mill.instance.id, outcome: 'returned' }),
      ]) as unknown[],
    })
    const charts = await call('charts.read', {}, undefined, '?queue=default&resolution=30s')
    expect(charts.body).toMatchObject({
      resolutionMs: 30_000,
      queues: [{ queue: 'default', counters: { done: [1] } }],
    })
    expect((await call('queues.capacity')).body).toMatchObject({
      queues: [{ queue: 'default', workers: 10, forecast: { trend: 'empty' } }, { queue: 'jobmill' }],
    })
    expect((await call('system.read')).body).toMatchObject({ migrations: { pending: [], refused: null } })
    expect((await call('resources.read')).body).toMatchObject({
      database: { sizeBytes: expect.any(Number) as number },
    })
    expect((await call('diagnostics.list')).body).toEqual({ diagnostics: [] })
    expect((await call('kinds.list')).body).toMatchObject({
      kinds: [
        { kind: 'counts', recent: null },
        { kind: 'dies', recent: null },
        { kind: 'echo', queue: 'default', instances: 1, recent: { health: 'ok', attempts: 1, failed: 0 } },
        { kind: 'holds' },
      ],
    })
    expect((await call('timeline.read', {}, undefined, '?type=mill-started&type=audit')).body).toMatchObject({
      events: [{ type: 'audit' }, { type: 'mill-started' }],
    })
    expect((await call('audit.read')).body).toMatchObject({
      entries: [{ what: 'duties.run', target: 'retain' }],
    })
    expect((await call('apps.list')).body).toEqual({ apps: [] })
    expect((await call('metrics.read')).body).toContain('jobmill_jobs_enqueued_total{queue="default"} 1')
  })

  test('events are streamed live, and missed ones are sent after a reconnect', async () => {
    const { url, mill } = await scene()
    const listen = async (
      headers: Record<string, string> = {},
    ): Promise<(until: string) => Promise<string>> => {
      const response = await fetch(`${url}/api/events`, { headers })
      expect(response.headers.get('content-type')).toBe('text/event-stream')
      called.add('events.listen')
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      onTestFinished(() => reader?.cancel())
      let text = ''
      return async (until) => {
        while (!text.includes(until)) {
          const read = await reader?.read()
          if (read?.value === undefined) throw new Error(`it ended after ${text}`)
          text += read.value
        }
        return text
      }
    }
    const untilText = await listen()
    // The first counts event marks the end of the existing timeline.
    await untilText('event: counts')
    await mill.audit.write({
      who: 'ada',
      role: 'admin',
      what: 'test',
      target: 'x',
      before: null,
      after: null,
    })
    await (await mill.enqueue('echo', 1)).result()
    await untilText('"what":"test"')
    await untilText('"done":1')
    const again = await listen({ 'last-event-id': '0' })
    expect(await again('"what":"test"')).toMatch(/event: timeline\ndata: .*"what":"test".*\nid: \d+/)
  })

  test('it is healthy, and ready only until it stops', async () => {
    const { url, mill } = await scene()
    expect(await request(url, 'GET', '/healthz')).toMatchObject({ status: 200, body: { alive: true } })
    expect(await request(url, 'GET', '/readyz')).toMatchObject({
      status: 200,
      body: { ready: true, degraded: [] },
    })
    // The server closes with the mill, but an API that an application serves does not.
    const api = httpApi(mill, { authenticate: () => ({ name: 'ada', role: 'admin' }) })
    onTestFinished(() => api.stop())
    await mill.stop()
    const get = async (path: string): Promise<Response> => api.fetch(new Request(`${url}${path}`))
    const ready = await get('/readyz')
    expect([ready.status, await ready.json()]).toMatchObject([503, { ready: false }])
    const queues = await get('/api/queues')
    expect([queues.status, await queues.json()]).toMatchObject([503, { code: 'MILL_STOPPED' }])
    expect(queues.headers.get('retry-after')).toBe('2')
    expect((await get('/healthz')).status).toBe(200)
  })

  test(`every operation was called successfully on ${name}`, () => {
    expect(all.length).toBeGreaterThan(30)
    expect(all.map((one) => one.name).filter((one) => !called.has(one))).toEqual([])
  })
})
