/** The command line as a process: output, exit codes and signals. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { jobmill } from '../../src/index.ts'
import { VERSION } from '../../src/job/payload/version.ts'
import { sqlite } from '../../src/sqlite.ts'
import { config, run, source } from './run.ts'

const HOLDING = `export default { store, grace: '1h', jobs: [defineJob({ kind: 'hold', run: ({ signal }) =>
  new Promise((resolve, reject) => {
    console.log('holding')
    const alive = setInterval(() => {}, 60_000)
    signal.addEventListener('abort', () => { clearInterval(alive); console.log(signal.reason.why); reject(signal.reason) })
  }) })] }`

const stray = (kind: string): string => `schedules: [{ name: 'nightly', job: '${kind}', when: '@daily' }]`

describe('jobmill on sqlite', () => {
  test('prints its usage', async () => {
    const { folder } = config('export default {}')
    const [help, nothing, group, version] = [['--help'], [], ['jobs', '--help'], ['--version']].map((args) =>
      run(folder, args),
    )
    expect(await version?.ended).toBe(0)
    expect(version?.output.out).toBe(`${VERSION}\n`)
    expect(await help?.ended).toBe(0)
    expect(help?.output.out).toContain('jobmill work [config]')
    expect(await nothing?.ended).toBe(2)
    expect(await group?.ended).toBe(0)
    expect(group?.output.out).toContain('jobmill jobs show ID')
    expect(group?.output.out).not.toContain('jobmill work')
  })

  test.each([
    [['wrk'], 'unknown command "wrk". Did you mean "work"?'],
    [['--nope'], '--nope: requires a command before it. Run jobmill --help'],
    [['start', '--queues', ''], '--queues: has an empty queue name (got "").'],
    [['work', '--queues', 'a,,b'], '--queues: has an empty queue name (got "a,,b").'],
    [['overrides', 'reset', 'nope'], 'queue|limit|schedule: is not an allowed value (got "nope").'],
    [
      ['jobs', 'list', '--sate', 'dead'],
      '--sate: is not an option of jobmill jobs list. Did you mean "--state"?',
    ],
  ])('N5 %j gets an error that names the intended word', async (args, text) => {
    const { folder } = config('export default {}')
    const wrong = run(folder, args)
    expect(await wrong.ended).toBe(2)
    expect(wrong.output.err).toContain(text)
    expect(wrong.output.out).toBe('')
  })

  test('an unreachable database exits with 4', async () => {
    const { folder } = config('export default {}')
    const nobody = run(folder, ['queues', 'list', '--db', 'postgres://nobody@127.0.0.1:1/none'])
    expect(await nobody.ended).toBe(4)
    expect(nobody.output.out).toBe('')
    const nothing = run(path.join(folder, '..'), ['queues', 'list'], { DATABASE_URL: '' })
    expect(await nothing.ended).toBe(2)
    expect(nothing.output.err).toContain('Pass a database with --db')
    const mistyped = run(path.join(folder, '..'), ['queues', 'list'], { DATABASE_URL: 'localhost:5432/app' })
    expect(await mistyped.ended).toBe(2)
    expect(mistyped.output.err).toContain(
      'DATABASE_URL: file not found: localhost:5432/app. Use an existing database, such as postgres://',
    )
  })

  test('start without a config suggests --no-work, and work does not', async () => {
    const outside = path.join(config('export default {}').folder, '..')
    const start = run(outside, ['start', '--db', 'sqlite:jobs.db'])
    expect(await start.ended).toBe(2)
    expect(start.output.err).toContain('Pass the path of a config, or --no-work to run the API')
    const work = run(outside, ['work', '--db', 'sqlite:jobs.db'])
    expect(await work.ended).toBe(2)
    expect(work.output.err).toMatch(/Pass the path of a config\.\n$/)
  })

  test('check prints every problem at once, and exits with 1 if one is an error', async () => {
    const { folder } = config(`const job = defineJob({ kind: 'a', run: () => 1 })
export default { store, jobs: [job, job], lease: '4s', serve: ['no good'], grac: 1 }`)
    const check = run(folder, ['check'])
    expect(await check.ended).toBe(1)
    for (const part of [
      'KIND_REPEATED jobs[1]',
      'OPTION_CONFLICT lease',
      'NAME_INVALID serve[0]',
      'Did you mean "grace"?',
    ])
      expect(check.output.out).toContain(part)
    expect(check.output.out).toContain('4 errors, 0 warnings')
  })

  test('check exits with 0 if there are only warnings', async () => {
    const { folder } = config(`export default { store, jobs: [defineJob({ kind: 'a', run: () => 1 })] }`)
    const check = run(folder, ['check'], { JOBMILL_QUEUES: 'other' })
    expect(await check.ended).toBe(0)
    expect(check.output.out).toContain('kinds of this process route to "default"')
    expect(check.output.out).toContain('0 errors, 1 warning\n')
  })

  test.each([
    ['no config', ['work', 'nothing.ts'], 'file not found'],
    [
      'a config without options',
      ['work', 'empty.mjs'],
      'must have the options of jobmill() as its default export',
    ],
    [
      'd a config that exports a mill',
      ['work', 'mill.mjs'],
      'mill.mjs: must have the options of jobmill() as its default export (got a mill). Remove the call to jobmill(): export default { jobs }.\n',
    ],
    ['d a config whose queues are no list', ['work', 'queue.mjs'], 'serve: must be an array'],
    [
      'a module in a package of CommonJS',
      ['check', 'module.js'],
      'module.js: is an ES module, but package.json makes Node read it as CommonJS. Rename it to module.mjs, or set "type": "module" in package.json.\n',
    ],
    [
      'a config that is not a module',
      ['check', 'jobs.yaml'],
      'jobs.yaml: is not a module. Write the config as jobmill.config.ts',
    ],
    ['a config that imports a missing module', ['check', 'far.mjs'], 'Install the package, or fix the path'],
    ['a syntax error', ['check', 'broken.mjs'], "broken.mjs:3:3: Unexpected token ']'."],
    ['a syntax error of TypeScript', ['check', 'broken.mts'], "broken.mts:3:3: Expected ',', got ']'."],
    ['a file that ends too early', ['check', 'short.mjs'], 'short.mjs:3: Unexpected end of input.'],
    ['TypeScript that ends too early', ['check', 'short.ts'], /^error {3}\S+\/short\.ts:2: \S/],
    ['TypeScript that ends too early', ['check', 'short.mts'], /^error {3}\S+\/short\.mts:2: \S/],
    ['a syntax error of an imported file', ['check', 'imports.mjs'], "broken.mjs:3:3: Unexpected token ']'."],
    [
      'N12 TypeScript that is more than types',
      ['check', 'enum.ts'],
      "or install tsx and run the command with NODE_OPTIONS='--import tsx'",
    ],
    [
      'N12 an import of x.js that is x.ts',
      ['check', 'tsc.mts'],
      "imports jobs.js, but only jobs.ts exists and Node does not map one to the other. Install tsx and run the command with NODE_OPTIONS='--import tsx'",
    ],
    [
      'N12 an import of a type as a value',
      ['check', 'types.mts'],
      'Use import type for types, or install tsx',
    ],
    [
      'N12 an alias of tsconfig.json',
      ['check', 'alias.mts'],
      /imports an alias of "paths" in \S+\/tsconfig\.json, which Node does not read: .*'~'.*\. Use relative paths, or install tsx/,
    ],
    [
      'N12 a decorator',
      ['check', 'decorator.mts'],
      /decorator\.mts:2:3: Invalid or unexpected token\. Remove decorators, or install tsx/,
    ],
    ...['check', 'work', 'start', 'enqueue'].map((word): [string, string[], string] => [
      `N12 a config that ${word} never finishes loading`,
      word === 'enqueue' ? [word, 'send', '--config', 'never.mjs'] : [word, 'never.mjs'],
      'never.mjs: never finishes loading. Look for a top-level await that never settles',
    ]),
    [
      'N12 a cycle of imports with an await',
      ['check', 'cycle.mjs'],
      'cycle.mjs: never finishes loading. Look for a top-level await',
    ],
  ])('%s is reported with the fix', async (_, args, text) => {
    const { folder } = config('export default {}')
    writeFileSync(path.join(folder, 'empty.mjs'), '')
    const mill = `import { jobmill } from '${source('index.ts')}'
      import { sqlite } from '${source('sqlite.ts')}'
      export default jobmill({ store: sqlite(':memory:') })`
    writeFileSync(path.join(folder, 'mill.mjs'), mill)
    writeFileSync(path.join(folder, 'queue.mjs'), `export default { jobs: [], serve: 5 }`)
    writeFileSync(path.join(folder, 'package.json'), '{"type":"commonjs"}')
    writeFileSync(path.join(folder, 'module.js'), 'export default { jobs: [] }')
    writeFileSync(path.join(folder, 'jobs.yaml'), 'jobs: []')
    writeFileSync(path.join(folder, 'far.mjs'), 'import "nowhere-at-all"')
    const broken = "export default {\n  jobs: [{ kind: 'a'\n  ]\n}\n"
    writeFileSync(path.join(folder, 'broken.mjs'), broken)
    writeFileSync(path.join(folder, 'broken.mts'), broken)
    for (const name of ['short.mjs', 'short.ts', 'short.mts'])
      writeFileSync(path.join(folder, name), 'export default {\n  jobs: [],\n')
    writeFileSync(path.join(folder, 'imports.mjs'), "import './broken.mjs'\nexport default {}\n")
    writeFileSync(path.join(folder, 'enum.ts'), 'enum A { B }\nmodule.exports = { a: A.B }')
    writeFileSync(
      path.join(folder, 'tsconfig.json'),
      '{ "compilerOptions": { "paths": { "~/*": ["./src/*"] } } }',
    )
    writeFileSync(path.join(folder, 'alias.mts'), `import '~/kinds'\nexport default {}`)
    writeFileSync(
      path.join(folder, 'decorator.mts'),
      'class A {\n  @logged\n  send() {}\n}\nexport default {}',
    )
    writeFileSync(path.join(folder, 'never.mjs'), 'await new Promise(() => {})\nexport default {}')
    writeFileSync(path.join(folder, 'cycle.mjs'), `await import('./mail.mjs')\nexport default {}`)
    writeFileSync(path.join(folder, 'mail.mjs'), `import './cycle.mjs'`)
    writeFileSync(path.join(folder, 'tsc.mts'), `import { jobs } from './jobs.js'\nexport default { jobs }`)
    writeFileSync(path.join(folder, 'jobs.ts'), 'export const jobs = []')
    writeFileSync(path.join(folder, 'shape.mts'), 'export interface Shape { a: 1 }')
    writeFileSync(
      path.join(folder, 'types.mts'),
      `import { Shape } from './shape.mts'\nexport default {} as Shape`,
    )
    const work = run(folder, args)
    expect(await work.ended).toBe(2)
    expect(work.output.err).toMatch(text)
    // Errors that we explain need no stack trace.
    expect(work.output.err).not.toMatch(/^ +at |node:internal/m)
  })

  test('check warns once of a schedule whose kind no job has, unless there are no jobs at all', async () => {
    const jobs = `jobs: [defineJob({ kind: 'report.send', run: () => 1 })]`
    const checks = [
      config(`export default { store, ${jobs}, ${stray('invoice.build')} }`),
      config(`export default { store, ${jobs}, ${stray('report.sned')} }`),
      config(`export default { store, serve: ['default'], ${stray('invoice.build')} }`),
    ].map(({ folder }) => run(folder, ['check']))
    // A warning: another process may run the kind.
    for (const check of checks) expect(await check.ended).toBe(0)
    expect(checks.map(({ output }) => output.out)).toEqual([
      'warning OPTION_INVALID schedules nightly: kind "invoice.build" is not defined in this config. Run a worker that defines it, or add the job.\n0 errors, 1 warning\n',
      'warning OPTION_INVALID schedules[0].job: is not defined in this process: "report.sned". Did you mean "report.send"?\n0 errors, 1 warning\n',
      '0 errors, 0 warnings\n',
    ])
  })

  test('work refuses to start without a queue, with the fix', async () => {
    const { folder } = config('export default { store }')
    const work = run(folder, ['work'])
    expect(await work.ended).toBe(2)
    expect(work.output.err).toContain("serve: ['default']")
  })

  test('P6 work runs jobs until SIGTERM, and a second signal ends the grace period', async () => {
    const { folder, file } = config(HOLDING)
    const work = run(folder, ['work'], {
      JOBMILL_WORKER_PREFIX: 'acme',
      JOBMILL_WORKER_VERSION: '1.2',
      JOBMILL_WORKER_ID: '7',
    })
    await work.says('"instance":"acme-worker-1.2-7","queues":["default"]')
    const mill = jobmill({ store: sqlite(file), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    const { id } = await mill.enqueue('hold', null)
    await work.says('holding')
    work.child.kill('SIGTERM')
    work.child.kill('SIGINT')
    expect(await work.ended).toBe(0)
    expect(work.output.out).toContain('shutdown')
    expect(work.output.err).toContain('0 finished, 0 returned to the queue, 1 interrupted')
    expect(await mill.get(id)).toMatchObject({ state: 'ready', attempt: 0 })
  })
})

describe('a process on sqlite with an uncaught error outside of its handlers', () => {
  test('P6 releases its jobs, and exits with 1', async () => {
    const { folder, file } = config(`const alive = setInterval(() => {}, 60_000)
export default { store, grace: 0, jobs: [
  defineJob({ kind: 'hold', run: ({ signal }) => new Promise((_, reject) => {
    console.log('holding')
    signal.addEventListener('abort', () => reject(signal.reason))
  }) }),
  defineJob({ kind: 'late', run() { setTimeout(() => { throw new Error('after it settled') }) } }),
] }`)
    const mill = jobmill({ store: sqlite(file), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    const { id } = await mill.enqueue('hold', null)
    const work = run(folder, ['work'])
    await work.says('holding')
    await mill.enqueue('late', null)
    expect(await work.ended).toBe(1)
    const lines = work.output.err.trimEnd().split('\n')
    const parsed = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
    expect(parsed.find(({ level }) => level === 'error')).toMatchObject({
      msg: 'uncaught error: Error: after it settled',
      stack: expect.stringContaining('jobmill.config.mjs') as unknown,
    })
    expect(await mill.get(id)).toMatchObject({ state: 'ready', attempt: 0, crashes: 0 })
  })
})
