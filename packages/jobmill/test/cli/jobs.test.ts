/** The `jobmill jobs` commands: inspecting jobs, and changing them by id or by filter. */
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { Dead, defineJob, type JobContext, type JobView, type Mill } from '../../src/index.ts'
import type { ErrorReport } from '../../src/runtime/operate/errors/errors.ts'
import type { JobPage } from '../../src/store.ts'
import { call, file, places, run } from './run.ts'

const job = defineJob({
  kind: 'a',
  run({ payload, log }: JobContext<string>) {
    log('looked at it', { payload })
    if (payload === 'dead') throw new Dead('no \u001B[31mred\u001B[0m thing\nand more')
    return { seen: payload }
  },
})

const free = defineJob({ kind: 'free', run: (_: JobContext) => {} })

const many = (n: number, payload: string, more: object = {}) =>
  Array.from({ length: n }, () => ({ payload, ...more }))
const LATER = { delay: '1h' }

/** Runs these jobs to their end, and no others. */
async function worked(mill: Mill, items: readonly { payload: string }[]): Promise<string[]> {
  const jobs = await mill.enqueueMany(job, items)
  await mill.start()
  await Promise.allSettled(jobs.map((one) => one.result()))
  await mill.pause('default')
  return jobs.map(({ id }) => id)
}

const UNKNOWN = '0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e'

describe.each(places)('jobs on $name', { timeout: 60_000 }, ({ name, create }) => {
  const test = inTurns(name, places)
  test('jobs retry patches payloads, and shows the first job before', async () => {
    const place = create()
    const mill = place.mill([free])
    const { id } = await mill.enqueue(free, { amount: 1, to: { name: 'ada' } })
    await mill.cancel(id)
    const retry = ['jobs', 'retry', '--kind', 'free', '--patch', '{"currency":"EUR","to":{"name":null}}']
    const { out } = await place.run([...retry, '--dry-run'])
    expect(out).toBe(
      [
        '1 job to retry: 1 cancelled',
        `first: free ${id}`,
        '  before {"amount":1,"to":{"name":"ada"}}',
        '  after  {"amount":1,"to":{},"currency":"EUR"}\n',
      ].join('\n'),
    )
    expect((await place.run([...retry, '--yes'])).out).toContain('retry done: 1 job\n')
    expect(await mill.get(id)).toMatchObject({
      payload: { amount: 1, to: {}, currency: 'EUR' },
      state: 'ready',
    })
    expect((await mill.timeline({ job: id })).events).toMatchObject([{ data: { by: 'cli' } }])
    await mill.cancel(id)
    // Ids need no confirmation. The size of a payload is checked in every process.
    const named = await place.run([
      'jobs',
      'retry',
      id,
      '--patch',
      JSON.stringify({ text: 'x'.repeat(1_048_560) }),
    ])
    expect([named.code, named.out]).toEqual([
      0,
      expect.stringContaining('retry done: 0 jobs\nskipped: 1, payload'),
    ])
    expect(named.out).toContain('payload invalid: exceeds 1048576 bytes as JSON')
    const json = await place.json<object>(['jobs', 'retry', id, '--patch', '{"a":1}'])
    expect(json).toMatchObject({ changed: 1, skipped: 0, invalid: [], first: { id, problem: null } })
  })

  test('errors lists the groups that Mission Control shows, and jobs retry takes a fingerprint', async () => {
    const place = create()
    const mill = place.mill([job])
    await worked(mill, many(2, 'dead'))
    const { groups } = await place.json<ErrorReport>(['errors', '--text', 'AND MORE', '--sort', 'last-seen'])
    expect(groups).toMatchObject([{ kind: 'a', dead: 2, folded: 0, frame: null }])
    const fingerprint = groups[0]?.fingerprint ?? ''
    const { out } = await place.run(['errors', '--queue', 'default'])
    expect(out).toMatch(
      /^dead +retrying +kind +first +last +versions +fingerprint +error\n +2 +0 +a .* [0-9a-f]{16} +Dead: no/,
    )
    expect((await place.run(['errors', '--kind', 'b'])).out).toBe('no dead or retrying jobs\n')
    expect((await place.run(['errors', '--failed-before', '1h'])).out).toBe('no dead or retrying jobs\n')
    expect((await place.json<ErrorReport>(['errors', '--failed-from', '1h'])).groups).toMatchObject([
      { dead: 2 },
    ])
    const dry = await place.run(['jobs', 'retry', '--fingerprint', fingerprint, '--dry-run'])
    expect(dry.out).toBe('2 jobs to retry: 2 dead\n')
    const wrong = await place.run(['jobs', 'retry', '--fingerprint', 'x', '--dry-run'])
    expect([wrong.code, wrong.err]).toEqual([
      2,
      expect.stringContaining('--fingerprint: must be a fingerprint'),
    ])
    expect((await place.run(['errors', '--sort', 'kind'])).err).toContain(
      'Use one of: jobs, last-seen, first-seen',
    )
  })

  test('list pages through all jobs', async () => {
    const { json, mill } = create()
    await mill().enqueueMany('b', many(600, 'later', { ...LATER, queue: 'mail' }))
    const { jobs, next } = await json<JobPage>(['jobs', 'list', '--queue', 'mail', '--all'])
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(600)
    expect(next).toBeNull()
  })

  test('show prints all details, and none of them can control the terminal', async () => {
    const { run: runHere, mill } = create()
    const [id = ''] = await worked(mill([job]), many(1, 'dead', { metadata: { trace: 7 }, tags: ['t'] }))
    const { code, out } = await runHere(['jobs', 'show', id])
    expect(code).toBe(0)
    for (const [name, text] of Object.entries({
      id,
      kind: 'a',
      state: 'dead',
      attempt: '1 of 5',
      timeout: 'set by the kind, which this process does not define',
      tags: 't',
      payload: '"dead"',
    }))
      expect(out).toMatch(new RegExp(`^${name} +${text}$`, 'm'))
    expect(out).toContain('"trace": 7')
    expect(out).toMatch(/^attempt 1 {2}failed-permanently after \d+ ms, /m)
    expect(out).toContain('Dead: no \\u001b[31mred\\u001b[0m thing')
    expect(out).toMatch(/\+\d+ ms +info +looked at it \{"payload":"dead"\}/)
    expect(out).not.toContain('\u001B')
  })

  test('errors groups failures with their versions, and versions lists what ran', async () => {
    const { run: runHere, json, mill } = create()
    await mill().open()
    expect((await runHere(['versions'])).out).toContain('set instance.version')
    expect((await runHere(['errors'])).out).toContain('no dead or retrying jobs')
    const instance = { version: '2.15.0' }
    await worked(mill([job], [], { instance }), many(3, 'dead'))
    const { out } = await runHere(['errors', '--queue', 'default', '--kind', 'a,b'])
    expect(out).toMatch(/^dead +retrying +kind +first +last +versions +fingerprint +error\n/)
    expect(out).toMatch(/^ +3 +0 +a .* 2\.15\.0: 3 +[0-9a-f]{16} +Dead: no /m)
    expect((await runHere(['errors', '--queue', 'other'])).out).toContain('no dead or retrying jobs')
    expect((await runHere(['versions'])).out).toMatch(/^2\.15\.0 .* now +1 +1$/m)
    expect(await json(['versions'])).toMatchObject({ versions: [{ version: '2.15.0', alive: 1 }] })
    const list = (version: string) => json<JobPage>(['jobs', 'list', '--version', version])
    expect((await list('2.14.0,2.15.0')).jobs).toHaveLength(3)
    expect((await list('2.14.0')).jobs).toHaveLength(0)
    const { history } = await json<{ history: { version: string }[] }>([
      'jobs',
      'show',
      (await list('2.15.0')).jobs[0]?.id ?? '',
    ])
    expect(history).toMatchObject([{ version: '2.15.0' }])
  })

  test('retry, run-now, cancel and delete act on jobs by id or by filter', async () => {
    const place = create()
    const { run: runHere, json } = place
    const mill = place.mill([job])
    const [dead = ''] = await worked(mill, many(1, 'dead'))
    const later = await mill.enqueueMany('b', many(700, 'later', { ...LATER, tags: ['x'] }))
    const [first = '', second = ''] = later.map(({ id }) => id)
    const [retried, now, deleted] = await Promise.all([
      runHere(['jobs', 'retry', dead]),
      runHere(['jobs', 'run-now', first]),
      runHere(['jobs', 'delete', second, UNKNOWN]),
    ])
    expect(retried).toMatchObject({ code: 0 })
    expect(retried.out).toContain(`${dead}  queued for retry`)
    expect(now).toMatchObject({ code: 0 })
    expect(deleted).toMatchObject({ code: 3 })
    expect(deleted.out).toContain(`${second}  deleted`)
    expect(deleted.out).toMatch(new RegExp(`${UNKNOWN} {2}unknown +No job has this id`))
    expect(
      await json(['jobs', 'cancel', '--tag', 'x', '--state', 'scheduled', '--yes', '--reason', 'enough']),
    ).toEqual({
      act: 'cancel',
      jobs: 698,
      byState: { scheduled: 698 },
      looked: 698,
      changed: 698,
      refused: 0,
    })
    expect(await mill.counts()).toMatchObject([{ ready: 2, scheduled: 0, cancelled: 698, dead: 0 }])
  })
})

describe('jobs on sqlite', () => {
  test('list filters, and prints how to continue', async () => {
    const { path: at, mill } = file([job])
    await worked(mill, [...many(2, 'dead', { tags: ['x'] }), ...many(1, 'done')])
    await mill.enqueue('b', { n: [7], 'a.b': 'c:d' }, LATER)
    const dead = await call(at, ['jobs', 'list', '--state', 'dead', '--tag', 'x', '--from', '1h'])
    expect(dead.out).toMatch(/^id +kind +queue +state +attempt +enqueued +when +error\n/)
    const row =
      /^[0-9a-f-]{36} {2}a +default +dead +1\/5 +(?:now|\d+ s ago) +ended (?:now|\d+ s ago) +Dead: no .*$/gm
    expect(dead.out.match(row)).toHaveLength(2)
    const text = await call(at, [
      'jobs',
      'list',
      '--text',
      'don',
      '--before',
      '2190-01-01T00:00:00Z',
      '--json',
    ])
    expect((JSON.parse(text.out) as JobPage).jobs).toMatchObject([{ kind: 'a', state: 'done' }])
    const statesOf = async (...filter: string[]): Promise<string[]> =>
      (JSON.parse((await call(at, ['jobs', 'list', ...filter, '--json'])).out) as JobPage).jobs.map(
        (one) => one.state,
      )
    expect(await statesOf('--error', 'Dead: no', '--tag', 'x')).toEqual(['dead', 'dead'])
    expect(await statesOf('--payload', 'n.0:7', '--payload', String.raw`a\.b:c:d`)).toEqual(['scheduled'])
    // Several names and states, comma-separated or repeated.
    expect(await statesOf('--state', 'dead,retrying', '--kind', 'a,b')).toEqual(['dead', 'dead'])
    expect(await statesOf('--state', 'scheduled', '--state', 'done', '--queue', 'default,other')).toEqual([
      'scheduled',
      'done',
    ])
    expect(
      await statesOf('--state', 'dead', '--ended-from', '1h', '--ended-before', '2190-01-01T00:00:00Z'),
    ).toEqual(['dead', 'dead'])
    const failed = ['--failed-from', '1h', '--failed-before', '2190-01-01T00:00:00Z']
    expect(await statesOf(...failed, '--started-from', '00:00', '--started-from', '1h')).toEqual([
      'dead',
      'dead',
    ])
    const dry = await call(at, ['jobs', 'retry', '--failed-from', '1h', '--dry-run'])
    expect(dry.out).toContain('2 jobs to retry: 2 dead')
    expect((await call(at, ['jobs', 'retry', '--failed-before', '1h', '--dry-run'])).out).toContain('0 jobs')
    const full = await call(at, ['jobs', 'list', '--state', 'dead', '--include', 'payload', '--json'])
    expect((JSON.parse(full.out) as JobPage).jobs[0]).toMatchObject({
      payload: 'dead',
      error: expect.stringContaining('Dead: no') as string,
    })
    for (const none of [
      '--error dead',
      '--state retrying',
      '--payload n:7',
      '--indexed-payload n.0:7',
      '--payload n.0:7 --payload n.0:8',
      '--queue none',
      '--from 2190-01-01T00:00:00Z',
      '--before 1h',
      '--tag x --tag y',
      '--kind x',
    ])
      expect((await call(at, ['jobs', 'list', ...none.split(' ')])).out).toBe('no jobs\n')
    const page = await call(at, ['jobs', 'list', '--limit', '2'])
    expect(page.out.trimEnd().split('\n')).toHaveLength(3)
    expect(page.out).toMatch(/b +default +scheduled +0\/5 +\S.* due in (?:59 m|1 h)$/m)
    const [, cursor = ''] = /--cursor (\S+),/.exec(page.err) ?? []
    const next = await call(at, ['jobs', 'list', '--limit', '2', '--cursor', cursor, '--json'])
    const { jobs } = JSON.parse(next.out) as JobPage
    expect(jobs).toHaveLength(2)
    for (const { id } of jobs) expect(page.out).not.toContain(id)
  })

  test('show as JSON has the field names of the library, and a missing job exits with 3', async () => {
    const { path: at, mill } = file([job])
    const [id = ''] = await worked(mill, many(1, 'done'))
    const { out } = await call(at, ['jobs', 'show', id, '--json'])
    expect(JSON.parse(out) as JobView).toMatchObject({
      id,
      result: { seen: 'done' },
      history: [{ outcome: 'returned', log: [{}] }],
    })
    const none = await call(at, ['jobs', 'show', UNKNOWN])
    expect(none).toMatchObject({ code: 3, out: '' })
    expect(none.err).toBe(
      `error   ID: job not found (got "${UNKNOWN}"). Check the id and the database; the job may have been deleted.\n`,
    )
  })

  test('a refused operation is reported with a hint', async () => {
    const { path: at, mill } = file()
    const { id } = await mill.enqueue('b', 1, LATER)
    const retried = await call(at, ['jobs', 'retry', id])
    expect(retried.code).toBe(3)
    expect(retried.out).toMatch(new RegExp(`${id} {2}refused +The job is already scheduled`))
    expect(JSON.parse((await call(at, ['jobs', 'cancel', id, '--reason', 'no', '--json'])).out)).toEqual({
      act: 'cancel',
      jobs: [{ id, verdict: 'changed', state: 'cancelled' }],
    })
    expect(await mill.get(id)).toMatchObject({ state: 'cancelled', error: 'no' })
    const [first = '', second = ''] = (await mill.enqueueMany('b', many(2, 'x', { orderKey: 'k' }))).map(
      (one) => one.id,
    )
    const blocked = await call(at, ['jobs', 'run-now', second])
    expect(blocked.code).toBe(3)
    expect(blocked.out).toMatch(
      new RegExp(`${second} {2}blocked +The job waits for its order key: job ${first}`),
    )
    expect((await call(at, ['jobs', 'show', second])).out).toContain(`Blocked by job ${first}`)
  })

  test('S low a bulk action counts the jobs first, changes them only after confirmation, and exits with 3 without it', async () => {
    const { path: at, mill } = file()
    await mill.enqueueMany('b', many(3, 'later', LATER))
    const cancel = ['jobs', 'cancel', '--kind', 'b']
    const alone = await call(at, cancel)
    expect(alone).toMatchObject({ code: 2, out: '3 jobs to cancel: 3 scheduled\n' })
    expect(alone.err).toContain(
      '--yes: is required with --json, or without an interactive terminal. Check with --dry-run',
    )
    const no = await call(at, cancel, false)
    expect(no).toEqual({
      code: 3,
      out: '3 jobs to cancel: 3 scheduled\ncontinue? [y/N] ',
      err: 'nothing was changed\n',
    })
    const dry = await call(at, [...cancel, '--dry-run', '--json'], true)
    expect(JSON.parse(dry.out)).toEqual({ act: 'cancel', jobs: 3, byState: { scheduled: 3 } })
    expect(await mill.counts()).toMatchObject([{ scheduled: 3 }])
    expect((await call(at, cancel, true)).out).toContain('cancel done: 3 jobs\n')
    expect(await mill.counts()).toMatchObject([{ cancelled: 3 }])
    expect(await call(at, cancel)).toEqual({ code: 0, out: '0 jobs to cancel\n', err: '' })
    const [retried, deleted] = [
      await call(at, ['jobs', 'retry', '--all', '--yes']),
      await call(at, ['jobs', 'delete', '--state', 'ready', '--yes']),
    ]
    expect(retried.out).toContain('retry done: 3 jobs')
    expect(deleted.out).toContain('delete done: 3 jobs')
  })

  test.each([
    [['delete', '--yes'], 'jobs delete: no jobs selected'],
    [['delete', UNKNOWN, '--state', 'done'], '--state: cannot be combined with job ids'],
    [['retry', UNKNOWN, '--dry-run'], '--dry-run: cannot be combined with job ids'],
    [['retry', '--state', 'done', '--yes'], 'retry does not apply to jobs in this state (got "done")'],
    [['list', '--state', 'ded'], '--state: is not an allowed value (got "ded")'],
    [['list', '--state', 'completed'], '--state: is not a job state (got "completed"). Use done.'],
    [['list', '--limit', '0'], '--limit: is out of bounds'],
    [
      ['list', '--indexed-payload', 'user id:1'],
      '--indexed-payload.path: is not a valid payload path (got "user id"). Use letters, digits',
    ],
    [
      ['list', '--payload', 'user.id'],
      '--payload: has no colon (got "user.id"). Pass a path, a colon and a value',
    ],
    [['retry', '--all', '--patch', 'EUR'], '--patch: is not valid JSON (got "EUR")'],
    [['retry', '--all', '--patch', '[1]'], '--patch: must be a JSON object (got an array of 1 item)'],
    [['retry', '--all', '--patch', '{}'], '--patch: has no members'],
    [['cancel', '--all', '--patch', '{"a":1}'], '--patch: is not an option of jobmill jobs cancel'],
    [['retry', UNKNOWN, '--error', 'x'], '--error: cannot be combined with job ids'],
    [['list', '--error', ''], '--error: must not be empty'],
  ])('%j is refused', async (args, text) => {
    const refused = await call(file().path, ['jobs', ...args])
    expect(refused.code).toBe(2)
    expect(refused.err).toContain(text)
  })

  test('Ctrl+C stops after the batch and prints the progress', async () => {
    const { path: at, mill } = file()
    await mill.enqueueMany('b', many(1_100, 'later', LATER))
    // Another writer holds the lock, so the first batch waits.
    const writer = new Database(at)
    onTestFinished(() => void writer.close())
    writer.exec('BEGIN IMMEDIATE')
    const { child, output, says, ended } = run('.', ['jobs', 'cancel', '--kind', 'b', '--yes', '--db', at])
    await says('1,100 jobs to cancel')
    child.kill('SIGINT')
    await says('stopping after this batch')
    writer.exec('COMMIT')
    expect(await ended).toBe(1)
    expect(output.out).toContain('stopped after 500 of 1,100 jobs')
    expect(await mill.counts()).toMatchObject([{ scheduled: 600, cancelled: 500 }])
  })

  test('list exits with 0 if its reader closes the pipe', async () => {
    const { path: at, mill } = file()
    await mill.enqueueMany('b', many(3_000, 'later', LATER))
    const { child, output, ended } = run('.', ['jobs', 'list', '--all', '--db', at])
    child.stdout.once('data', () => child.stdout.destroy())
    expect(await ended).toBe(0)
    expect(output.err).toBe('')
  })
})
