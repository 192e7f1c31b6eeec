/** Validation of mill options: reports all problems at once, each with code, field and fix. */
import { describe, expect, it } from 'vitest'
import { checkOptions, defineJob, jobmill, type MillOptions } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { labelFrom } from '../../src/runtime/options/label.ts'
import { testMill } from '../../src/testing/index.ts'
import { refusal } from '../unit/support.ts'

const job = (kind: string, queue?: string) =>
  defineJob({ kind, run: () => null, ...(queue === undefined ? {} : { queue }) })
const options = (input: object): MillOptions => ({ store: sqlite(':memory:'), env: {}, ...input })
const problemsOf = (input: object): string[] =>
  checkOptions(options(input)).map(({ level, code, option }) => `${level} ${code} ${option}`)
const served = (input: object): readonly string[] => jobmill(options(input)).queuesServed

describe('the options of a mill', () => {
  it('are validated all at once', () => {
    const input = {
      store: 'jobs.db',
      jobs: [job('a'), job('a'), { kind: 'b', run: 1 }],
      queues: { 'bad name': {}, mail: { wokers: 1 }, slow: { backoff: { base: '2h', max: '1h' } } },
      serve: ['a,b'],
      route: { x: 'no good' },
      middleware: [1],
      lease: '5s',
      renewEvery: '3s',
      grace: -1,
      crashesUntilDead: 0,
      log: 'loud',
      tracing: { enqueue() {} },
      platform: 5,
      grac: 1,
    }
    expect(problemsOf(input)).toEqual([
      'error OPTION_UNKNOWN options.grac',
      'error OPTION_INVALID store',
      'error OPTION_INVALID platform',
      'error KIND_REPEATED jobs[1]',
      'error OPTION_INVALID jobs[2]',
      'error NAME_INVALID route["x"]',
      'error NAME_INVALID serve[0]',
      'error NAME_INVALID queues.bad name',
      'error OPTION_UNKNOWN queues.mail.wokers',
      'error OPTION_CONFLICT queues.slow.backoff.base',
      'warning QUEUES_MISSING queues.mail',
      'error HANDLER_INVALID middleware[0]',
      'error OPTION_CONFLICT lease',
      'error DURATION_INVALID grace',
      'error NUMBER_INVALID crashesUntilDead',
      'error OPTION_INVALID log',
      'error OPTION_INVALID tracing',
    ])
  })

  it('every unknown key is reported, and settings for a queue without jobs', () => {
    const input = { jobs: [job('a')], lese: 1, gracee: 1, queues: { defualt: { worker: 1, bakoff: {} } } }
    expect(problemsOf(input)).toEqual([
      'error OPTION_UNKNOWN options.lese',
      'error OPTION_UNKNOWN options.gracee',
      'error OPTION_UNKNOWN queues.defualt.worker',
      'error OPTION_UNKNOWN queues.defualt.bakoff',
      'warning QUEUES_MISSING queues.defualt',
    ])
    const [stray] = checkOptions(options({ jobs: [job('a')], queues: { defualt: {} } }))
    expect(stray?.message).toContain('Did you mean "default"?')
  })

  it.each([
    [{ jobs: job('a') }, 'error OPTION_INVALID jobs'],
    [{ middleware: () => null }, 'error OPTION_INVALID middleware'],
    [{ serve: 'default' }, 'error OPTION_INVALID serve'],
    [{ queues: [] }, 'error OPTION_INVALID queues'],
  ])('refuse a value that is neither a list nor a table: %j', (input, problem) => {
    expect(problemsOf(input)).toEqual([problem])
  })

  it('jobmill() throws one error that lists all problems', () => {
    const error = refusal(() => jobmill(options({ lease: 1, grac: 1 })))
    expect(error.code).toBe('OPTIONS_INVALID')
    expect(error.problems).toHaveLength(2)
    expect(error.message).toContain('Did you mean "grace"?')
    expect(error.message).toContain('Raise lease or lower renewEvery')
  })

  it.each([[undefined], [null], ['x'], [[]]])('refuse %j as a whole', (input) => {
    expect(() => jobmill(input as unknown as MillOptions)).toThrow(/options/)
  })

  it('a kind that clashes with the onDead or onCancelled kind of another is a repeated kind', () => {
    const dying = defineJob({ kind: 'a', run: () => null, onDead: () => null })
    expect(problemsOf({ jobs: [dying, job('a:dead')] })).toEqual(['error KIND_REPEATED jobs[1]'])
    const undone = defineJob({ kind: 'a', run: () => null, onCancelled: () => null })
    expect(problemsOf({ jobs: [undone, job('a:cancelled')] })).toEqual(['error KIND_REPEATED jobs[1]'])
  })

  it('a lease of exactly two renewals is accepted', () => {
    expect(problemsOf({ lease: '6s', renewEvery: '3s' })).toEqual([])
  })
})

describe('defineJob', () => {
  it.each([
    [{ kind: 'a' }, 'HANDLER_INVALID', 'job a.run'],
    [{ kind: 'a', run: 'x' }, 'HANDLER_INVALID', 'job a.run'],
    [{ kind: 'a', run() {}, onDead: 1 }, 'HANDLER_INVALID', 'job a.onDead'],
    [{ kind: 'a', run() {}, onCancelled: 1 }, 'HANDLER_INVALID', 'job a.onCancelled'],
    [{ kind: 'a', run() {}, version: 0 }, 'NUMBER_INVALID', 'job a.version'],
    [{ kind: 'a', run() {}, version: 1.5 }, 'NUMBER_INVALID', 'job a.version'],
    [{ kind: 'a', run() {}, version: '3' }, 'NUMBER_INVALID', 'job a.version'],
    [{ kind: 'a', run() {}, version: 101 }, 'NUMBER_INVALID', 'job a.version'],
    [{ kind: 'a', run() {}, retryIf: 1 }, 'HANDLER_INVALID', 'job a.retryIf'],
    [{ kind: 'a b', run() {} }, 'NAME_INVALID', 'job.kind'],
    [
      { kind: 'a'.repeat(126), run() {}, onDead() {} },
      'NAME_INVALID',
      `job ${'a'.repeat(126)}.kind with onDead`,
    ],
    [{ kind: 'a', run() {}, payload: { to: 'string' } }, 'OPTION_INVALID', 'job a.payload'],
    [{ kind: 'a', run() {}, timeout: 0 }, 'DURATION_INVALID', 'job a.timeout'],
    [{ kind: 'a', run() {}, maxAttempts: 0 }, 'NUMBER_INVALID', 'job a.maxAttempts'],
    [{ kind: 'a', run() {}, backoff: { base: '2s', max: '1s' } }, 'OPTION_CONFLICT', 'job a.backoff.base'],
    [
      { kind: 'a', run() {}, backoff: { fixed: 1, jitter: 'half' } },
      'OPTION_INVALID',
      'job a.backoff.jitter',
    ],
    [{ kind: 'a', run() {}, maxAttempt: 1 }, 'OPTION_UNKNOWN', 'job.maxAttempt'],
    [{ kind: 'n20', run() {}, backoff: '10s' }, 'OPTION_INVALID', 'job n20.backoff'],
    [{ kind: 'n20', run() {}, backoff: null }, 'OPTION_INVALID', 'job n20.backoff'],
  ])('refuses %j', (parsed, code, field) => {
    expect(() => defineJob(parsed as never)).toThrow(expect.objectContaining({ code, field }) as Error)
  })
})

describe('routing', () => {
  const jobs = [job('email.send'), job('email.bulk.send'), job('report', 'slow'), job('other')]

  it('uses the kind itself, the longest prefix, or default', () => {
    expect(served({ jobs, route: { 'email.': 'mail', 'email.bulk.': 'bulk' } })).toEqual([
      'mail',
      'bulk',
      'slow',
      'default',
    ])
  })

  it('can be a function', () => {
    expect(served({ jobs, route: (kind: string) => kind.split('.')[0] ?? '' })).toEqual([
      'email',
      'slow',
      'other',
    ])
    expect(problemsOf({ jobs, route: () => 'no good' })).toContain('error NAME_INVALID route("email.send")')
  })
})

describe('the queues that a process serves', () => {
  const jobs = [job('a'), job('b', 'slow')]

  it.each([
    ['those its kinds route to', {}, ['default', 'slow']],
    [
      'JOBMILL_QUEUES, trimmed, without blanks and repeats',
      { env: { JOBMILL_QUEUES: ' x , y,,x, ' } },
      ['x', 'y'],
    ],
    ['a blank variable is unset', { env: { JOBMILL_QUEUES: '  ' } }, ['default', 'slow']],
    ['the option counts before the variable', { serve: ['z', 'z'], env: { JOBMILL_QUEUES: 'x' } }, ['z']],
  ])('%s', (_, input, queues) => {
    expect(served({ jobs, ...input })).toEqual(queues)
  })

  it('a name with white space in the variable is refused', () => {
    expect(problemsOf({ jobs, env: { JOBMILL_QUEUES: 'a b' } })).toContain(
      'error NAME_INVALID JOBMILL_QUEUES[0]',
    )
  })

  it.each([[{}], [{ serve: [] }], [{ env: { JOBMILL_QUEUES: ',' } }]])(
    'none is refused at start with the fix: %j',
    async (input) => {
      const mill = jobmill(options(input))
      await expect(mill.start()).rejects.toMatchObject({
        code: 'QUEUES_MISSING',
        fix: expect.stringContaining('JOBMILL_QUEUES=default') as string,
      })
      await mill.stop()
    },
  )
})

describe('the label of an instance', () => {
  const id = '01890000-0000-7000-8000-000000000000'
  it.each([
    [{}, null],
    [{ JOBMILL_WORKER_VERSION: '1', JOBMILL_WORKER_ID: 'x' }, null],
    [{ JOBMILL_WORKER_PREFIX: ' ' }, null],
    [
      { JOBMILL_WORKER_PREFIX: 'acme', JOBMILL_WORKER_VERSION: '1.2', JOBMILL_WORKER_ID: 'x' },
      'acme-worker-1.2-x',
    ],
    [{ JOBMILL_WORKER_PREFIX: 'acme', JOBMILL_WORKER_ID: 'x' }, 'acme-worker-x'],
    [{ JOBMILL_WORKER_PREFIX: 'acme', JOBMILL_WORKER_VERSION: '', JOBMILL_WORKER_ID: 'x' }, 'acme-worker-x'],
  ])('%j', (env, label) => {
    expect(labelFrom(env, id)).toBe(label)
  })

  it('A comes from code, with the environment as the fallback', async () => {
    const env = { JOBMILL_WORKER_PREFIX: 'acme', JOBMILL_WORKER_VERSION: '1', JOBMILL_WORKER_ID: 'x' }
    const known = async (instance: object): Promise<unknown[]> => {
      await using mill = await testMill({ serve: ['default'], env, instance })
      const [record] = await mill.instances()
      return [record?.label, record?.version]
    }
    expect(await known({})).toEqual(['acme-worker-1-x', '1'])
    expect(await known({ label: 'mail 7', version: '2.0' })).toEqual(['mail 7', '2.0'])
    expect(await known({ version: '2.0' })).toEqual(['acme-worker-2.0-x', '2.0'])
    expect(await known({ label: 'mail 7' })).toEqual(['mail 7', '1'])
    for (const wrong of [{ label: 7 }, { version: '' }, { labl: 'x' }, 'mail'])
      await expect(known(wrong as object)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' })
  })

  it('has four hex digits hashed from the instance id if it has no id of its own', () => {
    const label = labelFrom({ JOBMILL_WORKER_PREFIX: 'acme' }, id)
    expect(label).toMatch(/^acme-worker-[0-9a-f]{4}$/)
    expect(labelFrom({ JOBMILL_WORKER_PREFIX: 'acme' }, id)).toBe(label)
    expect(labelFrom({ JOBMILL_WORKER_PREFIX: 'acme' }, id.replace('1', '2'))).not.toBe(label)
  })
})
