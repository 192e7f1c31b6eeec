/** `jobmill enqueue`: one job with all options, waiting for a result, and many jobs from lines. */
import { describe, expect, test, vi } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { Dead, defineJob, type JobContext } from '../../src/index.ts'
import { stillWaiting } from '../../src/cli/commands/enqueue.ts'
import { fakePlatform } from '../unit/support.ts'
import { call, file, places, run } from './run.ts'

const EVERY =
  '--queue mail --priority -3 --timeout 90s --metadata {"trace":1} --run-at 2190-01-31T09:00:00Z --max-attempts 7 --tag a --tag b --order-key o --dedupe-key k --dedupe-scope queue --dedupe-hold-for 1h --dedupe-hold-after ended'

describe.each(places)('enqueue on $name', { timeout: 60_000 }, ({ name, create }) => {
  const test = inTurns(name, places)
  test('every option is stored', async () => {
    const { run: runHere, mill } = create()
    const id = '0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e'
    const { code, out } = await runHere([
      'enqueue',
      'email.send',
      '{"to":"ada"}',
      ...`${EVERY} --id ${id}`.split(' '),
    ])
    expect({ code, out }).toEqual({ code: 0, out: `enqueued ${id}\n` })
    expect(await mill().get(id)).toMatchObject({
      kind: 'email.send',
      queue: 'mail',
      payload: { to: 'ada' },
      priority: -3,
      maxAttempts: 7,
      timeoutMs: 90_000,
      tags: ['a', 'b'],
      orderKey: 'o',
      metadata: { trace: 1 },
      dueAt: Date.UTC(2190, 0, 31, 9),
      dedupeKey: 'queue mail k',
    })
  })

  test('each input line becomes a job, in several batches', async () => {
    const { json, mill } = create()
    const lines = Array.from({ length: 1_201 }, (_, at) => `{"n":${at}}`).join('\r\n')
    const summary = await json<object>(
      ['enqueue', 'count', '-', '--queue', 'many', '--tag', 'x'],
      `\n${lines}`,
    )
    expect(summary).toEqual({
      enqueued: 1_201,
      duplicate: 0,
      replaced: 0,
      failedAtLine: null,
      isStopped: false,
    })
    expect(await mill().counts()).toMatchObject([{ queue: 'many', ready: 1_201 }])
  })
})

/** A job definition with a schema, for a config. */
const LISTS = `
const payload = { '~standard': { version: 1, vendor: 'test', validate: (value) =>
  Array.isArray(value) ? { value } : { issues: [{ message: 'is not a list' }] } } }
export default { store, jobs: [defineJob({ kind: 'sum', payload, run: () => 1 })] }`

const MAIL = `
const payload = { '~standard': { version: 1, vendor: 'test', validate: () =>
  ({ issues: [{ message: 'no', path: ['to'] }, { message: 'neither', path: ['subject'] }] }) } }
export default { store, jobs: [defineJob({ kind: 'mail', payload, run: () => 1 })] }`

describe('enqueue on sqlite', () => {
  const { create } = places[0]

  test('--wait prints the result, and exits with 1 if the job is dead', async () => {
    const sum = defineJob({
      kind: 'sum',
      run({ payload }: JobContext<number[]>) {
        if (payload.length === 0) throw new Dead('there is nothing to add')
        return { sum: payload.reduce((sum, n) => sum + n, 0) }
      },
    })
    const { path: at, mill } = file([sum])
    await mill.start()
    const good = await call(at, ['enqueue', 'sum', '[1,2]', '--wait'])
    expect(good.code).toBe(0)
    expect(good.out).toMatch(/^enqueued \S+\n\{\n {2}"sum": 3\n\}\n$/)
    const bad = await call(at, ['enqueue', 'sum', '[]', '--wait', '--json'])
    expect(bad.code).toBe(1)
    expect((JSON.parse(bad.out) as { error: string }).error).toContain('nothing to add')
    expect(bad.err).toContain('is dead: Dead: there is nothing to add')
  })

  test('S4 the error, the name and the tags of a job cannot control the terminal or forge lines, as text and as JSON', async () => {
    const hostile = 'x\u001B]0;title\u0007\u009B2J\u202E\nerror   all is lost\u2028'
    const boom = defineJob({
      kind: 'boom',
      run() {
        throw new Dead(hostile)
      },
    })
    const { runAlone, mill: newMill } = create()
    const mill = newMill([boom])
    await mill.start()
    const { id } = await mill.enqueue('boom', { hostile }, { tags: ['\u202E\u009Btag'] })
    const [text, json, show, showJson, list] = await Promise.all(
      [
        ['enqueue', 'boom', '--wait'],
        ['enqueue', 'boom', '--wait', '--json'],
        ['jobs', 'show', id],
        ['jobs', 'show', id, '--json'],
        ['jobs', 'list', '--json'],
      ].map((args) => runAlone(args)),
    )
    for (const ran of [text, json, show, showJson, list]) {
      // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
      expect(`${ran?.out}${ran?.err}`).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u2028-\u202E]/)
      expect(ran?.err).not.toMatch(/^error {3}all/m)
    }
    expect([text?.code, json?.code]).toEqual([1, 1])
    expect((JSON.parse(json?.out ?? '') as { error: string }).error).toContain(hostile)
    expect(JSON.parse(showJson?.out ?? '')).toMatchObject({
      payload: { hostile },
      tags: ['\u202E\u009Btag'],
    })
  })

  test('without a config the defaults of a kind are unknown; a kind without a worker is reported', async () => {
    const { path: at, mill } = file([defineJob({ kind: 'sum', run: () => 1 })])
    const alone = await call(at, ['enqueue', 'sum'])
    expect(alone.err).toBe(
      'note    no config was loaded, so the defaults of sum in code are unknown; used the queue default and 5 attempts\n' +
        'note    no worker is running on this database; the job waits until one starts\n',
    )
    await mill.start()
    const full = ['--queue', 'default', '--max-attempts', '3']
    expect((await call(at, ['enqueue', 'sum', ...full])).err).toBe('')
    expect((await call(at, ['enqueue', 'sun', ...full])).err).toBe(
      'warning no worker for kind sun; the job waits until one starts. Did you mean sum?\n',
    )
  })

  test('--wait prints once why the job does not run', async () => {
    const { mill } = file()
    const { id } = await mill.enqueue('sum', 1, { queue: 'far' })
    const platform = fakePlatform()
    const { promise, resolve } = Promise.withResolvers<number>()
    const note = Promise.withResolvers<string>()
    const waiting = stillWaiting(
      id,
      promise,
      { mill, terminal: { err: note.resolve, status() {} } },
      platform,
    )
    expect(platform.pending).toEqual([2_000])
    platform.advance(2_000)
    expect(await note.promise).toBe('note    still waiting: No running process serves queue far')
    expect(platform.pending).toEqual([])
    resolve(5)
    expect(await waiting).toBe(5)
  })

  test('a queue that does not exist is reported if a similar one exists, and the job is enqueued', async () => {
    const { path: at, mill } = file([defineJob({ kind: 'a', queue: 'mail', run: () => 1 })])
    await mill.start()
    await mill.enqueue('a', 1, { queue: 'mail' })
    const rest = ['--max-attempts', '3', '--queue']
    const typo = await call(at, ['enqueue', 'a', ...rest, 'mial'])
    expect(typo).toMatchObject({
      code: 0,
      err: 'note    created queue "mial". Did you mean "mail"?\n',
    })
    expect((await call(at, ['enqueue', 'a', ...rest, 'reports'])).err).toBe('')
    expect((await call(at, ['enqueue', 'a', ...rest, 'mail'])).err).toBe('')
    const json = await call(at, ['enqueue', 'a', '--json', ...rest, 'maill'])
    expect(json.err).toContain('Did you mean "mail"?')
    expect(JSON.parse(json.out)).toMatchObject({ outcome: 'enqueued' })
  })

  test('a queue that does not exist is reported for input lines too', async () => {
    const { run: runHere, mill } = create()
    await mill().enqueue('a', 1, { queue: 'mail' })
    const lines = await runHere(['enqueue', 'a', '--stdin', '--queue', 'mial'], '1\n2\n')
    expect(lines).toMatchObject({ code: 0, out: '2 jobs enqueued\n' })
    expect(lines.err).toContain('note    created queue "mial". Did you mean "mail"?\n')
  })

  test('several errors of a payload are all reported, with the payload or its line', async () => {
    const { run: runHere } = create(MAIL)
    const one = await runHere(['enqueue', 'mail', '{}'])
    expect(one.err).toBe('error   payload.to: does not match its schema: no; payload.subject: neither.\n')
    const lines = await runHere(['enqueue', 'mail', '--stdin'], '\n{}\n')
    expect(lines.err).toContain(
      'error   line 2, payload.to: does not match its schema: no; line 2, payload.subject: neither.',
    )
  })

  test('a duplicate reports the existing job, or replaces its payload', async () => {
    const { path: at, mill } = file()
    const { id } = await mill.enqueue('a', 1, { dedupeKey: 'k', delay: '1h' })
    const kept = await call(at, ['enqueue', 'a', '2', '--dedupe-key', 'k'])
    expect(kept).toMatchObject({ code: 0, out: `duplicate ${id}\n` })
    const replaced = await call(at, [
      'enqueue',
      'a',
      '3',
      '--dedupe-key',
      'k',
      '--on-conflict',
      'replace',
      '--json',
    ])
    expect(JSON.parse(replaced.out)).toEqual({ id, outcome: 'replaced' })
    expect(await mill.get(id)).toMatchObject({ payload: 3 })
  })

  test('a debounced job replaces the one that waits, and the key options of dedupe are stored', async () => {
    const { path: at, mill } = file()
    const debounce = '--debounce doc:7 --debounce-wait 1h --debounce-max-wait 2h'.split(' ')
    const first = await call(at, ['enqueue', 'a', '1', ...debounce])
    const id = first.out.replace('enqueued', '').trim()
    const again = await call(at, ['enqueue', 'a', '2', ...debounce])
    expect(again).toMatchObject({ code: 0, out: `replaced ${id}\n` })
    expect(await mill.get(id)).toMatchObject({
      payload: 2,
      state: 'scheduled',
      dedupeKey: 'debounce a doc:7',
    })
    for (const how of ['--dedupe-window 1h', '--dedupe-until started']) {
      const args = ['enqueue', 'a', '3', '--dedupe-key', how.slice(2), ...how.split(' ')]
      const held = (await call(at, args)).out.replace('enqueued', '').trim()
      expect(await call(at, args)).toMatchObject({ code: 0, out: `duplicate ${held}\n` })
    }
  })

  test('a line that is not JSON is reported, and everything before it is written', async () => {
    const { run: runHere, mill } = create()
    const bad = await runHere(['enqueue', 'count', '--stdin'], '1\n\n2\n{"a":\n3\n')
    expect(bad).toMatchObject({ code: 1, out: '2 jobs enqueued\n' })
    expect(bad.err).toContain('line 4, payload: is not valid JSON (got "{\\"a\\":")')
    expect(bad.err).toContain('Stopped: line 4 and all lines after it were not enqueued.')
    expect(await mill().counts()).toMatchObject([{ ready: 2 }])
  })

  test('a line that does not match the schema of its kind is reported; with nothing written it exits with 2', async () => {
    const { run: runHere, mill } = create(LISTS)
    const [some, none, one, wrong] = await Promise.all([
      runHere(['enqueue', 'sum', '--stdin'], '[1]\n[2]\n3\n[4]\n'),
      runHere(['enqueue', 'sum', '--stdin'], '3\n[4]\n'),
      runHere(['enqueue', 'sum', '3']),
      runHere(['enqueue', 'sum', '--stdin', '--delay', 'soon'], '[1]\n'),
    ])
    expect(some).toMatchObject({ code: 1, out: '2 jobs enqueued\n' })
    expect(some.err).toContain('line 3, payload: does not match its schema: is not a list')
    expect(wrong.err).toContain('--delay: must be a duration (got "soon")')
    expect(none).toMatchObject({ code: 2, out: '0 jobs enqueued\n' })
    expect(one.err).toBe('error   payload: does not match its schema: is not a list.\n')
    expect((await mill().list({ kind: 'sum' })).jobs).toHaveLength(2)
  })

  test('a kind that the config does not define is refused before anything is written, unless a flag says that another process runs it', async () => {
    const { run: runHere, mill } = create(LISTS)
    const refused =
      'error   KIND: is not defined in this config (got "sun"). Did you mean "sum"? Pass --unknown-kind if another process runs it.\n'
    const [one, lines, far, passed] = await Promise.all([
      runHere(['enqueue', 'sun', '[1]']),
      runHere(['enqueue', 'sun', '--stdin'], '[1]\n'),
      runHere(['enqueue', 'report.build', '[1]']),
      runHere(['enqueue', 'far', '[1]', '--unknown-kind']),
    ])
    expect(one).toEqual({ code: 2, out: '', err: refused })
    expect(lines).toEqual({ code: 2, out: '', err: refused })
    expect(far.err).toContain('KIND: is not defined in this config (got "report.build"). Use one of sum.')
    expect(passed.code).toBe(0)
    expect((await mill().list()).jobs).toMatchObject([{ kind: 'far' }])
  })

  test.each([
    [['count', '--stdin', '--dedupe-key', 'k'], '--dedupe-key: applies to a single job'],
    [['count', '--stdin', '--debounce', 'k'], '--debounce: applies to a single job'],
    [['count', '-', '--wait'], '--wait: applies to a single job'],
    [['count', '1', '--stdin'], 'payload: applies to a single job'],
    [['count', '{to:1}'], 'payload: is not valid JSON (got "{to:1}"). Quote JSON for the shell'],
    [
      ['count', '--metadata', '1'],
      '--metadata: must be an object (got 1). Pass an object, such as \'{"traceId":"4bf9"}\'.',
    ],
    [
      ['count', '--delay', '1h', '--run-at', '2190-01-31T09:00:00Z'],
      '--delay: cannot be combined with --run-at',
    ],
    [['count', '--delay', '5 minutes'], '--delay: must be a duration (got "5 minutes")'],
    [
      ['count', '--run-at', '2026-11-17T10:00:00'],
      '--run-at: has no time zone (got "2026-11-17T10:00:00"). Add Z or an offset such as +01:00.',
    ],
    [
      ['count', '--delay', '5x'],
      '--delay: must be a duration (got "5x"). Use the units ms, s, m, h and d, such as 90s, 1h30m or 7d.',
    ],
    [['count', '--delay', '7'], '--delay: has no unit (got "7"). Use 7ms, 7s, 7m, 7h or 7d.'],
    [['count', '--timeout', '90000'], '--timeout: has no unit (got "90000"). Use 90000ms, 90000s'],
    [
      ['count', '--dedupe-key', 'k', '--dedupe-hold-for', '1.5'],
      '--dedupe-hold-for: has no unit (got "1.5")',
    ],
    [['count', '--run-at', 'soon'], '--run-at: must be an instant (got "soon"). Pass text such as \'2027'],
    [['count', '--priority', '40000'], '--priority: is out of bounds'],
    [['no good'], 'KIND: '],
    [['count', '--tag', 'a', '--tag', ''], '--tag: '],
    [
      ['count', '--dedupe-key', 'k', '--dedupe-scope', 'all'],
      '--dedupe-scope: must be one of global, queue, kind',
    ],
    [
      ['count', '--dedupe-key', 'k', '--dedupe-hold-after', 'ended'],
      '--dedupe-hold-after: requires a time to hold the key',
    ],
    [['count', '--on-conflict', 'keep'], '--dedupe-key: is missing'],
    [['count', '--dedupe-window', '1h'], '--dedupe-key: is missing'],
    [
      ['count', '--dedupe-key', 'k', '--dedupe-window', '1h', '--dedupe-hold-for', '1h'],
      '--dedupe-window: cannot be combined with --dedupe-hold-for, because the window starts at the enqueue',
    ],
    [
      ['count', '--dedupe-key', 'k', '--dedupe-until', 'end'],
      '--dedupe-until: must be one of ended, started',
    ],
    [['count', '--debounce-wait', '5s'], '--debounce: is missing'],
    [['count', '--debounce', 'k'], '--debounce-wait: is missing'],
    [
      ['count', '--debounce', 'k', '--debounce-wait', '5s', '--debounce-max-wait', '1s'],
      '--debounce-max-wait: must not be shorter than --debounce-wait',
    ],
    [
      ['count', '--debounce', 'k', '--debounce-wait', '5s', '--order-key', 'o'],
      '--debounce: cannot be combined with --order-key, because',
    ],
  ])('%j is refused, and nothing is written', async (args, text) => {
    const { path: at, mill } = file()
    const refused = await call(at, ['enqueue', ...args])
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toContain(text)
    expect(await mill.counts()).toEqual([])
  })

  test('Ctrl+C writes the lines that were read, and prints their number', async () => {
    const { path: at, mill } = file()
    const { child, output, says, ended } = run('.', ['enqueue', 'count', '--stdin', '--db', at])
    // One full batch and one more line; the input stays open.
    child.stdin.write('1\n'.repeat(501))
    await vi.waitFor(async () => expect(await mill.counts()).toMatchObject([{ ready: 500 }]), 45_000)
    child.kill('SIGINT')
    await says('stopping after this batch')
    expect(await ended).toBe(1)
    expect(output.out).toBe('501 jobs enqueued\n')
    expect(await mill.counts()).toMatchObject([{ ready: 501 }])
  })
})
