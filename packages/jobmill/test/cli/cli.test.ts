/** The command line as a process: what it prints, how it ends, and what signals do to it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { sqlite } from '../../src/sqlite.ts'
import { jobmill } from '../../src/index.ts'

const source = (file: string): string => path.join(import.meta.dirname, '../../src', file)

/** A folder with a config of these lines, and the file of its store. */
function config(lines: string): { folder: string; file: string } {
  const file = freshFile()
  const folder = path.dirname(file)
  writeFileSync(
    path.join(folder, 'jobmill.config.ts'),
    `import { defineJob } from '${source('index.ts')}'\nimport { sqlite } from '${source('sqlite.ts')}'\n` +
      `const store = sqlite(${JSON.stringify(file)})\n${lines}\n`,
  )
  return { folder, file }
}

function run(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [source('cli/main.ts'), ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  child.stdout.on('data', (data) => (said.out += String(data)))
  child.stderr.on('data', (data) => (said.err += String(data)))
  const ended = once(child, 'close').then(([code]) => code as number)
  const says = async (text: string): Promise<void> => {
    while (!said.out.includes(text) && !said.err.includes(text))
      await Promise.race([
        once(child.stdout, 'data'),
        once(child.stderr, 'data'),
        ended.then(() => Promise.reject(new Error(`it ended without "${text}": ${said.out}${said.err}`))),
      ])
  }
  return { child, said, ended, says }
}

const HOLDING = `export default { store, grace: '1h', jobs: [defineJob({ kind: 'hold', run: ({ signal }) =>
  new Promise((resolve, reject) => {
    console.log('holding')
    const alive = setInterval(() => {}, 60_000)
    signal.addEventListener('abort', () => { clearInterval(alive); console.log(signal.reason.why); reject(signal.reason) })
  }) })] }`

describe('jobmill on sqlite', () => {
  test('says how it is used', async () => {
    const { folder } = config('export default {}')
    const help = run(folder, ['--help'])
    expect(await help.ended).toBe(0)
    expect(help.said.out).toContain('jobmill work [config]')
    const nothing = run(folder, [])
    expect(await nothing.ended).toBe(2)
    const wrong = run(folder, ['wrk'])
    expect(await wrong.ended).toBe(2)
    expect(wrong.said.err).toContain('there is no such command: wrk')
    const option = run(folder, ['work', '--prot', '1'])
    expect(await option.ended).toBe(2)
    expect(option.said.err).toContain("'--prot'")
  })

  test('check prints every problem at once, and ends with 1 when one is an error', async () => {
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
      expect(check.said.out).toContain(part)
    expect(check.said.out).toContain('4 errors, 0 warnings')
  })

  test('check ends with 0 when there are only warnings', async () => {
    const { folder } = config(`export default { store, jobs: [defineJob({ kind: 'a', run: () => 1 })] }`)
    const check = run(folder, ['check'], { JOBMILL_QUEUES: 'other' })
    expect(await check.ended).toBe(0)
    expect(check.said.out).toContain('kinds of this process route to "default"')
    expect(check.said.out).toContain('0 errors, 1 warnings')
  })

  test.each([
    ['no config', ['work', 'nothing.ts'], 'there is no such file'],
    ['a config without options', ['work', 'empty.mjs'], 'has no options of a mill as its default export'],
  ])('%s is told with the fix', async (_, args, text) => {
    const { folder } = config('export default {}')
    writeFileSync(path.join(folder, 'empty.mjs'), '')
    const work = run(folder, args)
    expect(await work.ended).toBe(2)
    expect(work.said.err).toContain(text)
  })

  test('work refuses to start without a queue, and says how to fix it', async () => {
    const { folder } = config('export default { store }')
    const work = run(folder, ['work'])
    expect(await work.ended).toBe(2)
    expect(work.said.err).toContain("serve: ['default']")
  })

  test('P6 work runs jobs until SIGTERM, and a second signal cuts the grace short', async () => {
    const { folder, file } = config(HOLDING)
    const work = run(folder, ['work'], {
      JOBMILL_WORKER_PREFIX: 'acme',
      JOBMILL_WORKER_VERSION: '1.2',
      JOBMILL_WORKER_ID: '7',
    })
    await work.says('ready   instance acme-worker-1.2-7')
    const mill = jobmill({ store: sqlite(file), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    const { id } = await mill.enqueue('hold', null)
    await work.says('holding')
    work.child.kill('SIGTERM')
    work.child.kill('SIGINT')
    expect(await work.ended).toBe(0)
    expect(work.said.out).toContain('shutdown')
    expect(work.said.err).toContain('stopped: 0 finished, 0 handed back, 1 interrupted')
    expect(await mill.get(id)).toMatchObject({ state: 'ready', attempt: 0 })
  })
})

describe('a process on sqlite that breaks outside of its handlers', () => {
  test('P6 hands its jobs back in good order, and ends with 1', async () => {
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
    expect(work.said.err).toContain('after it settled')
    expect(await mill.get(id)).toMatchObject({ state: 'ready', attempt: 0, crashes: 0 })
  })
})
