/** Long-running processes whose output breaks: a real pipe without a reader, and a full disk. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { jobmill } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { config, source } from './run.ts'

/** It writes to both outputs, as handlers do. */
const NOISY = `defineJob({ kind: 'noisy', run: () => {
  for (const stream of [process.stdout, process.stderr]) stream.write('a line of a handler\\n')
  console.error('a line of the console')
  process.emitWarning('a warning')
} })`
const WORKS = `export default { store, jobs: [${NOISY}] }`

/** The end to write to of a pipe whose reader has ended. */
function unreadPipe(): number {
  const file = path.join(path.dirname(freshFile()), 'pipe')
  execFileSync('mkfifo', [file])
  const reader = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(file, 'w')
  closeSync(reader)
  return writer
}

/** Every write to it fails, as on a full disk. */
const fullDisk = (): number => openSync('/dev/full', 'w')

interface Outputs {
  readonly out?: number
  readonly err?: number
}

function start(folder: string, args: readonly string[], { out, err }: Outputs) {
  const stdio = ['ignore', out ?? 'ignore', err ?? 'ignore'] as const
  const child = spawn(process.execPath, args, { cwd: folder, stdio: [...stdio] })
  for (const output of [out, err]) if (output !== undefined) closeSync(output)
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, ended: once(child, 'exit').then(([code]) => code as number | null) }
}

/** Runs a job of the kind on another process, and resolves with its end. */
async function runJob(file: string, kind: string): Promise<void> {
  const mill = jobmill({ store: sqlite(file), log: 'silent' })
  onTestFinished(async () => void (await mill.stop()))
  const job = await mill.enqueue(kind, null)
  await job.result({ timeout: '20s' })
}

const BROKEN: readonly (readonly [string, () => Outputs])[] = [
  ['a closed standard output', () => ({ out: unreadPipe() })],
  ['a closed standard error', () => ({ err: unreadPipe() })],
  ['both outputs closed', () => ({ out: unreadPipe(), err: unreadPipe() })],
  ['a full disk', () => ({ out: fullDisk(), err: fullDisk() })],
]

describe.each(['text', 'json'])('S P6 jobmill work --log %s on sqlite', (log) => {
  const some = log === 'text' ? BROKEN.slice(0, 2) : BROKEN.slice(2)
  test.each(inFull(BROKEN, some))(
    'S P6 keeps working with %s, and stops on SIGTERM with 0',
    async (_, broken) => {
      const { folder, file } = config(WORKS)
      const args = [source('cli/main.ts'), 'work', '--log', log, '--level', 'debug']
      const { child, ended } = start(folder, args, broken())
      await runJob(file, 'noisy')
      await runJob(file, 'noisy')
      expect(child.exitCode).toBe(null)
      child.kill('SIGTERM')
      expect(await ended).toBe(0)
    },
  )
})

test('S P6 an uncaught error whose report causes the next one stops the process', async () => {
  const { folder } = config(`
    const again = () => process.nextTick(() => { throw new Error('the logger failed') })
    export default { store, jobs: [${NOISY}], log: again }`)
  const { ended } = start(folder, [source('cli/main.ts'), 'work'], {})
  expect(await ended).toBe(1)
})

test('S P6 a command without a mill ends with its own code when both outputs are broken', async () => {
  const folder = path.dirname(freshFile())
  const { ended } = start(folder, [source('cli/main.ts'), 'strat'], BROKEN[2]?.[1]() ?? {})
  expect(await ended).toBe(2)
})

test('S P6 a mill in your own process survives a broken standard error', async () => {
  const file = freshFile()
  const program = `
    import { defineJob, jobmill } from '${source('index.ts')}'
    import { serve } from '${source('../../server/src/index.ts')}'
    import { sqlite } from '${source('sqlite.ts')}'
    const fails = defineJob({ kind: 'fails', maxAttempts: 1, run() { throw new Error('it failed') } })
    const mill = jobmill({ store: sqlite(${JSON.stringify(file)}), jobs: [fails], log: 'debug' })
    await mill.start()
    await serve(mill, { port: 0 })
    for (let n = 0; n < 3; n += 1) await (await mill.enqueue(fails, null)).result().catch(() => {})
    await mill.stop()
    process.exitCode = 7`
  const args = ['--input-type=module', '--eval', program]
  const { ended } = start(path.dirname(file), args, { err: unreadPipe() })
  expect(await ended).toBe(7)
})
