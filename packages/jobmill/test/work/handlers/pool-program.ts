/** A program for pools under test: it handles each request as the payload says. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { JobDefinition } from '../../../src/job/kind/definition.ts'
import { workerPool, type WorkerPoolOptions } from '../../../src/work/handlers/worker-pool.ts'
import { aFolder } from './processes.ts'

/** What a request can ask for; by default the answer is the pid and the request. */
export interface Ask {
  /** The fields of the answer instead of the usual ones; `id: null` removes the id. */
  readonly answer?: Readonly<Record<string, unknown>>
  /** Written literally instead of an answer, or, with `thenRaw`, right after it. */
  readonly raw?: string
  readonly thenRaw?: string
  /** Writes a line of that many bytes. */
  readonly longLine?: number
  /** Written to stderr before the answer. */
  readonly stderr?: string
  /** Writes to stderr, and exits with this code. */
  readonly exit?: number
  /** Writes its pid to a file of this name, and answers once `<name>.go` exists. */
  readonly hold?: string
  /** Like hold, but after it has started a child, whose pid is in `<name>.grandchild`. */
  readonly family?: boolean
  /** From here on it ignores SIGTERM. */
  readonly deaf?: boolean
  /** From here on it does not end when its input ends. */
  readonly stays?: boolean
}

const PROGRAM = `
  const fs = require('node:fs')
  const { spawn } = require('node:child_process')
  fs.writeFileSync('children/' + process.pid, '')
  if (process.argv.includes('stays')) setInterval(() => {}, 1000)
  function reply(request) {
    const ask = request.payload ?? {}
    const { id = request.id, ...said } = ask.answer ?? { status: 'ok', result: { pid: process.pid, request } }
    const answer = { ...(id === null ? {} : { id }), ...said }
    process.stdout.write(JSON.stringify(answer) + '\\n' + (ask.thenRaw ?? ''))
  }
  function hold(request, name) {
    fs.writeFileSync(name, process.pid + '\\n')
    const look = setInterval(() => {
      if (!fs.existsSync(name + '.go')) return
      clearInterval(look)
      reply(request)
    }, 5)
  }
  function take(request) {
    const ask = request.payload ?? {}
    if (ask.deaf) process.on('SIGTERM', () => {})
    if (ask.stays) setInterval(() => {}, 1000)
    if (ask.exit !== undefined) {
      fs.writeSync(2, 'a long story '.repeat(1000) + 'out of paper')
      process.exit(ask.exit)
    }
    if (ask.stderr !== undefined) fs.writeSync(2, ask.stderr)
    if (ask.raw !== undefined) return process.stdout.write(ask.raw)
    if (ask.longLine !== undefined) return process.stdout.write('x'.repeat(ask.longLine) + '\\n')
    if (ask.family) {
      const code = 'setInterval(() => {}, 1000); console.log("up")'
      const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
      fs.writeFileSync(ask.hold + '.grandchild', child.pid + '\\n')
      child.stdout.once('data', () => hold(request, ask.hold))
      return
    }
    if (ask.hold !== undefined) return hold(request, ask.hold)
    reply(request)
  }
  const lines = require('node:readline').createInterface({ input: process.stdin })
  lines.on('line', (line) => take(JSON.parse(line)))`

export interface TestPool {
  readonly job: JobDefinition<Ask | null, { readonly pid: number; readonly request: { readonly id: string } }>
  /** Where its children run. */
  readonly folder: string
  /** Each child creates a file here with its pid as the name. */
  readonly children: string
}

/** Stopped at the end of the test. */
export async function aPool(
  options: Partial<WorkerPoolOptions> = {},
  args: readonly string[] = [],
): Promise<TestPool> {
  const folder = await aFolder()
  const children = join(folder, 'children')
  await mkdir(children)
  const argv = [process.execPath, '-e', PROGRAM, '--', ...args] as const
  const job: TestPool['job'] = workerPool({ kind: 'some.kind', argv, cwd: folder, ...options })
  onTestFinished(async () => await job.service?.stop())
  return { job, folder, children }
}
